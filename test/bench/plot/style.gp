# style.gp - what all plots share.  `dir` is where the CSV files are and the
# SVG files go.
set datafile separator ","
set terminal svg size 900,500 font "sans,13" background "white" dynamic
set style data linespoints
set grid back linecolor "#dddddd"
set border 3
set tics nomirror
set key outside right top

filters = "CF ss-CF BF blk-BF QF dl-CBF plain semi-sorted"
title_of(name) = name eq "CF" ? "cuckoo filter (paper)" : name eq "ss-CF" ? "the same, semi-sorted" : \
	name eq "BF" ? "Bloom filter" : name eq "blk-BF" ? "blocked Bloom filter" : \
	name eq "QF" ? "quotient filter" : name eq "dl-CBF" ? "d-left counting Bloom" : "ours, ".name

# One colour and one kind of point a filter, in every plot; ours are thick.
set linetype 1 linecolor "#377eb8" linewidth 1 pointtype 4 pointsize 0.5
set linetype 2 linecolor "#984ea3" linewidth 1 pointtype 6 pointsize 0.5
set linetype 3 linecolor "#999999" linewidth 1 pointtype 8 pointsize 0.5
set linetype 4 linecolor "#a65628" linewidth 1 pointtype 10 pointsize 0.5
set linetype 5 linecolor "#f781bf" linewidth 1 pointtype 12 pointsize 0.5
set linetype 6 linecolor "#4daf4a" linewidth 1 pointtype 14 pointsize 0.5
set linetype 7 linecolor "#ff7f00" linewidth 2.5 pointtype 5 pointsize 0.5
set linetype 8 linecolor "#e41a1c" linewidth 2.5 pointtype 7 pointsize 0.5

# Column y against column x of the rows of one filter.
only(name, value) = strcol(1) eq name ? value : NaN
# A speed of 0 is one that the filter has not.
speed(name, value) = only(name, value > 0 ? value : NaN)
set datafile missing NaN
