# Usage: gnuplot -e "csv='spectrum.summary.csv'; runs='spectrum'; out='figure.svg'" plot.gp
set terminal svg size 760,520 dynamic font 'sans,14' background '#ffffff'
set output out
set datafile separator ','
set datafile columnheaders
set datafile missing NaN
file = word(runs, 1).'.csv'
set xlabel 'index k'
set ylabel 'sum to index k over the sum of all'
set xrange [0:512]
set yrange [0:1.02]
set grid lc rgb '#dddddd'
set key bottom right
set title 'initialised BERT on the sample text' noenhanced
# A line breaks where the index starts again: every matrix is filtered by itself.
pick(matrix) = stringcolumn('matrix') eq matrix ? column('cumulative') : NaN
plot file using 'index':(pick('b')) with lines lw 6 lc rgb '#0072B2' title 'B (softmax)', \
  '' using 'index':(pick('c')) with lines lw 2.5 lc rgb '#D55E00' title 'C (kernelized)', \
  '' using 'index':(pick('a')) with lines lw 1.5 dt 2 lc rgb '#000000' title 'A'
