# Usage, in the folder with the results: gnuplot -e "runs='n512 n1024'; out='figure.svg'" plot.gp
# Draws the methods of Skeinformer Fig. 1 and its ablations of every RUN.summary.csv, mean and standard error, absolute above and relative below.
set terminal svg size 1200,900 dynamic font 'sans,13' background '#ffffff'
set output out
set datafile separator ','
set datafile columnheaders
set datafile missing NaN
set logscale xy
set format y '%g'
set xlabel 'features d'
set xtics (8, 16, 32, 64, 128, 256)
set xrange [7:290]
set grid lc rgb '#dddddd'
pick(metric, method, preset) = stringcolumn('metric') eq metric && stringcolumn('method') eq method && stringcolumn('preset') eq preset ? column('mean') : NaN
metrics = 'spectral_abs spectral_rel'
labels = '||O-O~|| ||O-O~||/||O||'
set multiplot layout 2,words(runs)
do for [m = 1:2] {
  set ylabel word(labels, m) noenhanced
  if (m == 2) { set yrange [0.0002:10] }
  do for [r = 1:words(runs)] {
    file = word(runs, r).'.summary.csv'
    run = word(runs, r)
    set title 'n = '.run[2:*] noenhanced
    if (m == 2 && r == words(runs)) { set key bottom left Left reverse maxrows 6 samplen 1.5 font ',9' } else { unset key }
    plot file using 'features':(pick(word(metrics, m), 'v-mean', 'paper')):(stringcolumn('standard_error') eq 'NA' ? 0 : column('standard_error')) with yerrorlines lc rgb '#7F7F7F' dt 2 lw 1.6 pt 5 ps 0.6 title 'v-mean', \
      '' using 'features':(pick(word(metrics, m), 'best-rank-d', 'paper')):(stringcolumn('standard_error') eq 'NA' ? 0 : column('standard_error')) with yerrorlines lc rgb '#000000' dt 2 lw 1.6 pt 6 ps 0.6 title 'best-rank-d', \
      '' using 'features':(pick(word(metrics, m), 'informer', 'code')):(stringcolumn('standard_error') eq 'NA' ? 0 : column('standard_error')) with yerrorlines lc rgb '#CC79A7' dt 1 lw 1.6 pt 7 ps 0.6 title 'informer', \
      '' using 'features':(pick(word(metrics, m), 'linformer', 'code')):(stringcolumn('standard_error') eq 'NA' ? 0 : column('standard_error')) with yerrorlines lc rgb '#D55E00' dt 1 lw 1.6 pt 8 ps 0.6 title 'linformer', \
      '' using 'features':(pick(word(metrics, m), 'linformer-unreduced', 'paper')):(stringcolumn('standard_error') eq 'NA' ? 0 : column('standard_error')) with yerrorlines lc rgb '#8B4513' dt 1 lw 1.6 pt 9 ps 0.6 title 'linformer-unreduced', \
      '' using 'features':(pick(word(metrics, m), 'skeinformer', 'paper')):(stringcolumn('standard_error') eq 'NA' ? 0 : column('standard_error')) with yerrorlines lc rgb '#0072B2' dt 1 lw 1.6 pt 10 ps 0.6 title 'skeinformer', \
      '' using 'features':(pick(word(metrics, m), 'skeinformer-uniform', 'paper')):(stringcolumn('standard_error') eq 'NA' ? 0 : column('standard_error')) with yerrorlines lc rgb '#56B4E9' dt 3 lw 1.6 pt 11 ps 0.6 title 'uniform', \
      '' using 'features':(pick(word(metrics, m), 'skeinformer-no-norm', 'paper')):(stringcolumn('standard_error') eq 'NA' ? 0 : column('standard_error')) with yerrorlines lc rgb '#E69F00' dt 3 lw 1.6 pt 12 ps 0.6 title 'no-norm', \
      '' using 'features':(pick(word(metrics, m), 'skeinformer-no-norm', 'code')):(stringcolumn('standard_error') eq 'NA' ? 0 : column('standard_error')) with yerrorlines lc rgb '#882255' dt 3 lw 1.6 pt 13 ps 0.6 title 'no-norm (code)', \
      '' using 'features':(pick(word(metrics, m), 'skeinformer-simple-norm', 'paper')):(stringcolumn('standard_error') eq 'NA' ? 0 : column('standard_error')) with yerrorlines lc rgb '#009E73' dt 3 lw 1.6 pt 14 ps 0.6 title 'simple-norm', \
      '' using 'features':(pick(word(metrics, m), 'skeinformer-no-reuse', 'paper')):(stringcolumn('standard_error') eq 'NA' ? 0 : column('standard_error')) with yerrorlines lc rgb '#999933' dt 3 lw 1.6 pt 15 ps 0.6 title 'no-reuse'
  }
}
unset multiplot
