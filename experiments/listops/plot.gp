# Usage, in a folder with curves.csv: gnuplot plot.gp
# Loss of training and accuracy on the validation set against steps, means over seeds, a panel for each learning rate.
set terminal svg size 1100,720 dynamic font 'sans,12' background '#ffffff'
set output 'curves.svg'
set datafile separator ','
set termoption noenhanced
set grid lc rgb '#dddddd'
methods = 'softmax kernelized skyformer nystromformer linformer performer nprf-rpe kriged-coreset'
colours = '#000000 #0072B2 #56B4E9 #D55E00 #E69F00 #009E73 #CC79A7 #8C564B'
rates = '0.0003 0.001 0.003'
of(m, r, c) = stringcolumn(1) eq m && stringcolumn(2) eq r ? column(c) : NaN
set multiplot layout 2,3
set xlabel 'step'
set xtics 500
set key off
do for [k = 1:2] {
  set ylabel (k == 1 ? 'loss of training' : 'accuracy, validation')
  do for [j = 1:3] {
    set title 'learning rate '.word(rates, j)
    if (k == 1) { set yrange [1.6:2.4] } else { set yrange [0.1:0.4] }
    if (k == 1 && j == 3) { set key top right font ',10' } else { set key off }
    plot for [i = 1:words(methods)] 'curves.csv' skip 1 using 3:(of(word(methods, i), word(rates, j), k == 1 ? 5 : 7)) \
      title word(methods, i) with lines lw 1.5 lc rgb word(colours, i)
  }
}
unset multiplot
