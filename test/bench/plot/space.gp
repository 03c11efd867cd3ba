# Figure 3: bits per item by false positive rate, b = 2, 4, 8.
file = dir."/space.csv"
set logscale x
set xrange [0.2:0.00003]
set yrange [0:24]
set format x "%g"
set xtics ("10 %%" 0.1, "1 %%" 0.01, "0.1 %%" 0.001, "0.01 %%" 0.0001)
set xlabel "false positive rate, measured (better to the right)"
set ylabel "bits for each item"
set key inside left top
at(name, b) = sprintf("< grep '^%s,%d,' %s", name, b, file)

set output dir."/space-b.svg"
plot for [i = 1:3] at("CF", 2 ** i) using 3:4 with lines linetype i title sprintf("cuckoo filter (paper), buckets of %d", 2 ** i), \
	for [i = 1:3] at("plain", 2 ** i) using 3:4 with points linetype i pointtype 7 \
		title sprintf("ours, plain, buckets of %d", 2 ** i), \
	at("semi-sorted", 4) using 3:4 with points linetype 8 title "ours, semi-sorted, buckets of 4"

# Figure 4: against Bloom and the lower bound.
set output dir."/space.svg"
plot log(1 / x) / log(2) linecolor "black" linewidth 1 dashtype 2 with lines title "least possible", \
	1.4427 * log(1 / x) / log(2) linetype 3 with lines title "Bloom filter", \
	at("CF", 4) using 3:4 with lines linetype 1 title "cuckoo filter of the paper, a power of two", \
	at("ss-CF", 4) using 3:4 with lines linetype 2 title "the same, semi-sorted", \
	at("plain", 4) using 3:4 with points linetype 7 title "ours, layout=plain", \
	at("semi-sorted", 4) using 3:4 with points linetype 8 title "ours, as it comes (semi-sorted)"
