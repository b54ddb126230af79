# Usage, in the folder with the results: gnuplot -e "runs='n512 n1024'; out='figure.svg'" plot.gp
# Draws the methods of Skyformer Fig. 1 of every RUN.summary.csv, mean and standard error, absolute above and relative below.
set terminal svg size 1680,720 dynamic font 'sans,13' background '#ffffff'
set output out
set datafile separator ','
set datafile columnheaders
set datafile missing NaN
set logscale xy
set format y '%g'
set xlabel 'features d'
set xtics (8, 16, 32, 64, 128, 256)
set xrange [14:290]
set grid lc rgb '#dddddd'
pick(metric, method, preset) = stringcolumn('metric') eq metric && stringcolumn('method') eq method && stringcolumn('preset') eq preset ? column('mean') : NaN
metrics = 'spectral_abs spectral_rel'
labels = '||O-O~|| ||O-O~||/||O||'
set multiplot layout 2,words(runs) margins screen 0.06,0.87,0.09,0.94 spacing screen 0.045,0.15
do for [m = 1:2] {
  do for [r = 1:words(runs)] {
    file = word(runs, r).'.summary.csv'
    run = word(runs, r)
    set title 'n = '.run[2:*] noenhanced
    set ylabel (r == 1 ? word(labels, m) : '') noenhanced
    if (m == 1 && r == words(runs)) { set key at screen 0.995, 0.94 top right font ',11' } else { unset key }
    plot file using 'features':(pick(word(metrics, m), 'v-mean', 'paper')):(stringcolumn('standard_error') eq 'NA' ? 0 : column('standard_error')) with yerrorlines lc rgb '#7F7F7F' dt 2 lw 1.6 pt 5 ps 0.6 title 'v-mean', \
      '' using 'features':(pick(word(metrics, m), 'best-rank-d', 'paper')):(stringcolumn('standard_error') eq 'NA' ? 0 : column('standard_error')) with yerrorlines lc rgb '#000000' dt 2 lw 1.6 pt 6 ps 0.6 title 'best-rank-d', \
      '' using 'features':(pick(word(metrics, m), 'skyformer-softmax', 'paper')):(stringcolumn('standard_error') eq 'NA' ? 0 : column('standard_error')) with yerrorlines lc rgb '#0072B2' dt 1 lw 1.6 pt 7 ps 0.6 title 'skyformer-softmax', \
      '' using 'features':(pick(word(metrics, m), 'nystromformer', 'code')):(stringcolumn('standard_error') eq 'NA' ? 0 : column('standard_error')) with yerrorlines lc rgb '#D55E00' dt 1 lw 1.6 pt 8 ps 0.6 title 'nystromformer', \
      '' using 'features':(pick(word(metrics, m), 'performer', 'code')):(stringcolumn('standard_error') eq 'NA' ? 0 : column('standard_error')) with yerrorlines lc rgb '#009E73' dt 1 lw 1.6 pt 9 ps 0.6 title 'performer', \
      '' using 'features':(pick(word(metrics, m), 'informer', 'code')):(stringcolumn('standard_error') eq 'NA' ? 0 : column('standard_error')) with yerrorlines lc rgb '#CC79A7' dt 1 lw 1.6 pt 10 ps 0.6 title 'informer'
  }
}
unset multiplot
