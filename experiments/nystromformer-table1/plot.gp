# Usage: gnuplot -e "csv='cost.summary.csv'; out='figure.svg'" plot.gp
# Time (left) and peak memory (right) against n for the rows of Nystromformer Table 1: medians, 10 and 90 % quantiles.
set terminal svg size 1300,520 dynamic font 'sans,14' background '#ffffff'
set output out
set datafile separator ','
set datafile columnheaders
set datafile missing NaN
set logscale xy
set format y '%g'
set xlabel 'tokens n'
set xtics (512, 1024, 2048, 4096, 8192)
set xrange [450:9300]
set grid lc rgb '#dddddd'
pick(metric, method, d) = stringcolumn('metric') eq metric && stringcolumn('method') eq method && column('features') == d ? column('q50') : NaN
metrics = 'seconds peak_bytes'
array units = [1000, 1e-6]
array labels = ['milliseconds a call', 'peak memory of a call, MB']
set multiplot layout 1,2
do for [m = 1:2] {
  u = units[m]
  set ylabel labels[m]
  if (m == 1) { set key top left } else { unset key }
  plot csv using 'n':(u * pick(word(metrics, m), 'exact', 0)):(u * column('q10')):(u * column('q90')) with yerrorlines lc rgb '#000000' lw 1.6 pt 5 ps 0.6 title 'exact softmax', \
    '' using 'n':(u * pick(word(metrics, m), 'linformer', 256)):(u * column('q10')):(u * column('q90')) with yerrorlines lc rgb '#009E73' lw 1.6 pt 6 ps 0.6 title 'Linformer-256', \
    '' using 'n':(u * pick(word(metrics, m), 'longformer', 257)):(u * column('q10')):(u * column('q90')) with yerrorlines lc rgb '#CC79A7' lw 1.6 pt 8 ps 0.6 title 'Longformer-257', \
    '' using 'n':(u * pick(word(metrics, m), 'nystromformer', 64)):(u * column('q10')):(u * column('q90')) with yerrorlines lc rgb '#D55E00' lw 1.6 pt 7 ps 0.6 title 'Nystromformer-64', \
    '' using 'n':(u * pick(word(metrics, m), 'nystromformer', 32)):(u * column('q10')):(u * column('q90')) with yerrorlines lc rgb '#E69F00' lw 1.6 pt 9 ps 0.6 title 'Nystromformer-32'
}
unset multiplot
