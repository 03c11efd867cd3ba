# Figures 5 to 8: lookups, inserts and deletes.
set key below maxcols 4
set ylabel "million operations a second"
set yrange [0:*]

set output dir."/share.svg"
set xlabel "share of keys that are present, per cent"
file = dir."/shares.csv"
plot for [i = 1:8] file using 2:(speed(word(filters, i), $3)) linetype i title title_of(word(filters, i)), \
	for [i = 7:8] file using 2:(speed(word(filters, i), $4)) linetype i dashtype 2 \
		title title_of(word(filters, i)).", batched"

file = dir."/occupancy.csv"
set xlabel "share of slots in use"
set xrange [0:1]
set output dir."/occupancy.svg"
set title "lookups of present keys"
plot for [i = 1:8] file using 2:(speed(word(filters, i), $4)) linetype i title title_of(word(filters, i))

set output dir."/occupancy-missed.svg"
set title "lookups of absent keys"
plot for [i = 1:8] file using 2:(speed(word(filters, i), $5)) linetype i title title_of(word(filters, i))

set output dir."/insert.svg"
set title "inserts, one by one"
plot for [i = 1:8] file using 2:(speed(word(filters, i), $3)) linetype i title title_of(word(filters, i))

set output dir."/delete.svg"
set title "deletes"
plot for [i in "1 2 5 6 7 8"] file using 2:(speed(word(filters, i + 0), $6)) linetype i + 0 \
	title title_of(word(filters, i + 0))
