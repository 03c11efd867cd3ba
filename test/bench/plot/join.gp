# What queries cost with join filters off and in auto: processor time of all processes.
set terminal svg size 900,440 font "sans,13" background "white" dynamic
set output dir."/figures.svg"
set style data histograms
set style histogram clustered gap 1
set style fill solid noborder
set boxwidth 0.9
set key inside top left samplen 2
set ylabel "seconds of processor time"
set yrange [0:*]
set xtics rotate by -25 nomirror noenhanced
set bmargin 8
set rmargin 16
set grid ytics
# A comma in a name would end it here; wrong estimates have a table.
file = "< sed '/estimated/d; s/\"\\([^\",]*\\), \\([^\"]*\\)\"/\\1: \\2/' ".dir."/figures.csv"
plot file using (column("all off")):xtic(strcol("query")) linecolor "#999999" title "join filters off", \
	file using (column("all auto")) linecolor "#e41a1c" title "cuckoofilter.join\\_filter = auto"
