# Bars of how many times as fast or as small something is with filters: gains.py has the rows in $data.
set terminal svg size 900,420 font "sans,13" background "white" dynamic
set output out
set style fill solid noborder
set border 2
unset key
set xtics nomirror scale 0
set ytics nomirror scale 0 noenhanced
set grid xtics linecolor "#dddddd"
set lmargin 52
set rmargin 6
set yrange [0.4:*]
set xrange [0:*]
set xlabel "times as fast, or as small (size), with a filter; 1: no gain"
plot $data using ($2/2):1:($2/2):(0.38):3:ytic(4) with boxxyerror linecolor rgb variable, \
	$data using 2:1:5 with labels left offset 0.5,0 noenhanced
