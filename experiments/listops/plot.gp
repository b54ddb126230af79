# Usage, in a folder with curves.csv: gnuplot plot.gp
# Loss of training and accuracy on the validation set against steps, means over seeds, at the learning rate 0.001.
set terminal svg size 1100,440 dynamic font 'sans,12' background '#ffffff'
set output 'curves.svg'
set datafile separator ','
set datafile missing NaN
set termoption noenhanced
set grid lc rgb '#dddddd'
if (!exists("rate")) rate = '0.001'
methods = 'softmax kernelized skyformer nystromformer linformer performer nprf-rpe kriged-coreset'
colours = '#000000 #0072B2 #56B4E9 #D55E00 #E69F00 #009E73 #CC79A7 #8C564B'
of(m, c) = stringcolumn(1) eq m && stringcolumn(2) eq rate ? column(c) : NaN
set multiplot layout 1,2
set xlabel 'step'
set key off
set ylabel 'loss of training'
set yrange [1.75:2.35]
plot for [i = 1:words(methods)] 'curves.csv' skip 1 using 3:(of(word(methods, i), 5)) title word(methods, i) \
  with lines lw 1.5 lc rgb word(colours, i)
set key bottom right font ',10'
set ylabel 'accuracy, validation'
set yrange [0.1:0.35]
plot for [i = 1:words(methods)] 'curves.csv' skip 1 using 3:(of(word(methods, i), 7)) title word(methods, i) \
  with lines lw 1.5 lc rgb word(colours, i)
unset multiplot
