# When a prefilter pays: speedup by the share of rows that pass.
set terminal svg size 900,600 font "sans,13" background "white" dynamic
set output dir."/breakeven.svg"
set key below maxcols 2
file = dir."/breakeven.csv"
names = system("cut -d, -f1 ".file." | uniq | tr ' \n' '_ '")
set xlabel "share of rows that the filter lets through, per cent"
set ylabel "times as fast with a filter asked first"
set logscale xy
set xtics (1, 2, 5, 10, 20, 50, 100)
set ytics (0.5, 1, 2, 5, 10, 20)
set xrange [1:100]
plain(name) = system("echo ".name." | tr _ ' '")
plot 1 with lines linecolor "black" dashtype 2 title "break-even", \
	for [name in names] sprintf("< grep '^%s,' %s", plain(name), file) using 2:3 title plain(name)
