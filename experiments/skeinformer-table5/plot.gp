# Usage: gnuplot -e "csv='cost.summary.csv'; out='figure.svg'" plot.gp
# Declared flops (left) and time (right) against n at d = 256, BigBird with the 640 keys that its blocks give: medians,
# 10 and 90 % quantiles.
set terminal svg size 1300,520 dynamic font 'sans,14' background '#ffffff'
set output out
set datafile separator ','
set datafile columnheaders
set datafile missing NaN
set logscale xy
set format y '%g'
set xlabel 'tokens n'
set xtics (1024, 2048, 4096, 8192, 16384)
set xrange [900:18600]
set grid lc rgb '#dddddd'
pick(metric, method, d) = stringcolumn('metric') eq metric && stringcolumn('method') eq method && column('features') == d ? column('q50') : NaN
metrics = 'flops seconds'
array units = [1e-9, 1000]
array labels = ['declared flops, billions', 'milliseconds a call']
names = 'exact bigbird performer nystromformer linformer informer skeinformer'
features = '0 640 256 256 256 256 256'
colours = '#000000 #999999 #009E73 #D55E00 #E69F00 #CC79A7 #0072B2'
set multiplot layout 1,2
do for [m = 1:2] {
  u = units[m]
  set ylabel labels[m]
  if (m == 1) { set key top left } else { unset key }
  plot for [i = 1:7] csv using 'n':(u * pick(word(metrics, m), word(names, i), int(word(features, i)))):(u * column('q10')):(u * column('q90')) with yerrorlines lc rgb word(colours, i) lw 1.6 pt 4 + i ps 0.6 title word(names, i)
}
unset multiplot
