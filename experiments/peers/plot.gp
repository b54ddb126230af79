# gnuplot -e "table='ratios.csv'; out='ratios.svg'" plot.gp: median ratio of time, peer over Croquis, with its range.
set terminal svg size 900,1100 font "sans,12" background "white"
set output out
set datafile separator ","
set key off
set logscale x 2
set xlabel "time of the peer / time of Croquis (median, range)"
set grid x
set yrange [*:*] reverse
set offsets 0, 0, 0.5, 0.5
set ytics font ",11"
set arrow from 1, graph 0 to 1, graph 1 nohead lc "gray40"
plot table every ::1 using 4:0:5:6:ytic(1) with xerrorbars pt 7 ps 0.6 lc "#1f77b4"
