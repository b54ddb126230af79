# Usage: gnuplot -e "csv='cost.summary.csv'; runs='cost without-bias'; out='figure.svg'" plot.gp
# Median seconds of a call against n, 10 and 90 % quantiles: the figure's axes on the left, logarithmic on the right.
set terminal svg size 1300,520 dynamic font 'sans,14' background '#ffffff'
set output out
set datafile separator ','
set datafile columnheaders
set datafile missing NaN
set xlabel 'tokens n'
set ylabel 'seconds a call'
set grid lc rgb '#dddddd'
pick(method, d) = stringcolumn('metric') eq 'seconds' && stringcolumn('method') eq method && column('features') == d ? column('q50') : NaN
set multiplot layout 1,2
do for [scale = 0:1] {
  if (scale) { set logscale xy; set format y '%g'; set xrange [400:50000]; unset key } else { set xrange [0:41000]; set yrange [0:*]; set key top left }
  if (scale) { set autoscale y }
  plot csv using 'n':(pick('exact', 0)):'q10':'q90' with yerrorlines lc rgb '#000000' lw 1.6 pt 5 ps 0.6 title 'exact softmax', \
    '' using 'n':(pick('exact-normalized-rpe', 0)):'q10':'q90' with yerrorlines lc rgb '#7F7F7F' lw 1.6 pt 6 ps 0.6 title 'exact, unit length, with the bias', \
    for [d in '16 32 64'] '' using 'n':(pick('nprf-rpe', int(d))):'q10':'q90' with yerrorlines lc int(d) / 16 lw 1.6 pt 7 ps 0.6 title 'nprf-rpe, m = '.d, \
    word(runs, 2).'.summary.csv' using 'n':(pick('nprf', 64)):'q10':'q90' with yerrorlines lc rgb '#CC79A7' dt 2 lw 1.6 pt 8 ps 0.6 title 'nprf (no bias), m = 64'
}
unset multiplot
