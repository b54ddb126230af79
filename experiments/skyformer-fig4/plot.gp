# Usage: gnuplot -e "csv='n512.summary.csv'; runs='n512 n1024'; out='figure.svg'" plot.gp
set terminal svg size 860,520 dynamic font 'sans,14' background '#ffffff'
set output out
set datafile separator ','
set datafile columnheaders
set datafile missing NaN
set logscale y
set format y '%g'
set xlabel 'index k'
set ylabel 'singular value of the output over the largest'
set grid lc rgb '#dddddd'
set key outside right top
set title 'initialised BERT on the sample text, p = 64' noenhanced
# The largest of each matrix comes first.
colours = '#0072B2 #D55E00 #009E73 #CC79A7'
top = 1
scaled(matrix) = stringcolumn('matrix') eq matrix ? (column('index') == 1 ? (top = column('singular_value'), 1) : column('singular_value') / top) : NaN
plot for [r = 1:words(runs)] word(runs, r).'.csv' using 'index':(scaled('bv')) with lines lw 4 lc rgb word(colours, r) title 'BV, n = '.word(runs, r)[2:], \
  for [r = 1:words(runs)] word(runs, r).'.csv' using 'index':(scaled('cv')) with lines lw 2 dt 2 lc rgb word(colours, r) title 'CV, n = '.word(runs, r)[2:]
