# When a join filter pays: speedup by the share of rows that pass, a plot for each kind of hash table.
file = dir."/curves.csv"
cases = system("tail -n +2 ".file." | cut -d, -f1 | uniq | tr ' \n' '_ '")
set terminal svg size 900,760 font "sans,13" background "white" dynamic
set output dir."/curves.svg"
set multiplot layout 2,2
set xlabel "share of rows that pass, per cent"
set ylabel "speedup (CPU)"
set logscale xy
set xtics (1, 2, 5, 10, 20, 50, 100)
set ytics (0.5, 0.7, 1, 1.4, 2, 3, 5, 10)
set xrange [1:100]
set yrange [0.5:5]
set key inside top right samplen 2
array modes[3] = ["on", "auto", "hand"]
array titles[3] = ["on", "auto", "by hand"]
array styles[3] = [8, 7, 1]
plain(name) = system("echo ".name." | tr _ ' '")
do for [name in cases] {
	set title plain(name)
	plot 1 with lines linecolor "black" dashtype 2 title "off", \
		for [i = 1:3] sprintf("< grep '^%s,%s,' %s", plain(name), modes[i], file) using 3:5 linetype styles[i] title titles[i]
}
unset multiplot
