# Figure 2: load factor by fingerprint bits.
set output dir."/load.svg"
set multiplot layout 1,2
set key inside right bottom
set xlabel "bits of a fingerprint"
set ylabel "share of slots in use when an insert fails"
set yrange [0:1]
set xrange [1:21]
file = "< sort -t, -k4,4n ".dir."/load.csv"
pick(name, b, size) = (strcol(1) eq name && $2 == b && $3 == size) ? $5 : NaN
do for [b = 4:8:4] {
	set title sprintf("buckets of %d slots", b)
	plot for [i = 1:3] file using 4:(pick("CF", b, 10 + 5 * i)) linetype i \
			title sprintf("cuckoo filter (paper), 2^{%d} buckets", 10 + 5 * i), \
		for [i = 1:2] file using 4:(pick("ours", b, 10 + 5 * i)) linetype 6 + i \
			title sprintf("ours, 2^{%d} buckets", 10 + 5 * i)
}
unset multiplot
