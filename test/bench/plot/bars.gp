# A panel of horizontal bars of ratios.  bars.py has the rows in $data (place, times, colour, name, label), `legend`
# (more plots, of nothing, with titles), `heading`, and the panel's `top`, `bottom` and `left_share` in shares of the
# picture.
set style fill solid noborder
set border 2 linecolor "#888888"
set xtics nomirror scale 0 textcolor rgb "black"
set ytics nomirror scale 0 noenhanced textcolor rgb "black"
set grid xtics linecolor "#e4e4e4" linetype 1
set lmargin at screen left_share
set rmargin at screen 0.93
set tmargin at screen top
set bmargin at screen bottom
set yrange [0.4:*]
set xrange [0:*<100]
set label 1 heading at graph 0, graph 1 offset 0,0.9 left font ',14' noenhanced
set key inside bottom right samplen 1 spacing 1.2 noenhanced
unset arrow
set arrow from 1, graph 0 to 1, graph 1 nohead dashtype 2 linecolor "#444444" front
plot $data using ($2/2):1:($2/2):(0.36):3:ytic(4) with boxxyerror linecolor rgb variable notitle, \
	$data using 2:1:5 with labels left offset 0.5,0 noenhanced notitle @legend
