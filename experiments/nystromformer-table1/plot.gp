# Usage: gnuplot -e "csv='cost.summary.csv'; out='figure.svg'" plot.gp
# Time (left) and peak memory (right) against n for the rows of Nystromformer Table 1: medians, 10 and 90 % quantiles.
set terminal svg size 1300,520 dynamic font 'sans,14' background '#ffffff'
set output out
set datafile separator ','
set datafile missing NaN
set logscale xy
set format y '%g'
set xlabel 'tokens n'
set xtics (512, 1024, 2048, 4096, 8192)
set xrange [450:9300]
set grid lc rgb '#dddddd'
# Columns: 2 method, 4 n, 9 features, 10 metric, 15 to 17 quantiles 10, 50 and 90 %.
pick(metric, method, d) = stringcolumn(10) eq metric && stringcolumn(2) eq method && column(9) == d ? column(16) : NaN
metrics = 'seconds peak_bytes'
array units = [1000, 1e-6]
array labels = ['milliseconds a call', 'peak memory of a call, MB']
set multiplot layout 1,2
do for [m = 1:2] {
  u = units[m]
  set ylabel labels[m]
  if (m == 1) { set key top left } else { unset key }
  plot csv using 4:(u * pick(word(metrics, m), 'exact', 0)):(u * column(15)):(u * column(17)) with yerrorlines lc rgb '#000000' lw 1.6 pt 5 ps 0.6 title 'exact softmax', \
    '' using 4:(u * pick(word(metrics, m), 'linformer', 256)):(u * column(15)):(u * column(17)) with yerrorlines lc rgb '#009E73' lw 1.6 pt 6 ps 0.6 title 'Linformer-256', \
    '' using 4:(u * pick(word(metrics, m), 'longformer', 257)):(u * column(15)):(u * column(17)) with yerrorlines lc rgb '#CC79A7' lw 1.6 pt 8 ps 0.6 title 'Longformer-257', \
    '' using 4:(u * pick(word(metrics, m), 'nystromformer', 64)):(u * column(15)):(u * column(17)) with yerrorlines lc rgb '#D55E00' lw 1.6 pt 7 ps 0.6 title 'Nystromformer-64', \
    '' using 4:(u * pick(word(metrics, m), 'nystromformer', 32)):(u * column(15)):(u * column(17)) with yerrorlines lc rgb '#E69F00' lw 1.6 pt 9 ps 0.6 title 'Nystromformer-32'
}
unset multiplot
