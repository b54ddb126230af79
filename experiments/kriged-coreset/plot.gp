# Usage: gnuplot -e "csv='NAME-frontier.csv'; name='NAME'; out='NAME.svg'" plot.gp
# Error against flops, geometric means over all heads of NAME, of kriged-coreset in three modes, of the other methods that are
# best on more than one head in results/*-ratios*.csv, and of v-mean and performer.
set terminal svg size 900,600 dynamic font 'sans,13' background '#ffffff'
set output out
set datafile separator ','
set logscale xy
set format xy '%g'
set format x '10^{%T}'
set xlabel 'flops'
set ylabel '||O - O~||_F / ||O||_F' noenhanced
set grid lc rgb '#dddddd'
set key outside right top font ',10' noenhanced
set title name.': geometric means over all heads' noenhanced
set xrange [5e3:*]
of(m) = stringcolumn(1) eq m ? column(4) : NaN
methods = 'v-mean skyformer-softmax skyformer-softmax:landmarks=stratified vattention nystromformer nystromformer:inverse=pinv linformer:distribution=segments performer bigbird longformer streaming vertical-slash mra-2 clustered improved-clustered wildcat kriged-coreset kriged-coreset:mode=coreset kriged-coreset:mode=window'
colours = '#7F7F7F #0072B2 #0072B2 #56B4E9 #D55E00 #D55E00 #882255 #009E73 #8C564B #BCBD22 #BCBD22 #CC79A7 #E69F00 #117733 #117733 #332288 #000000 #000000 #000000'
dashes = '1 1 2 1 1 2 1 1 1 1 2 1 1 2 1 1 1 2 3'
plot for [i = 1:words(methods)] csv skip 1 using 3:(of(word(methods, i))) title word(methods, i) with linespoints \
  lc rgb word(colours, i) dt int(word(dashes, i)) lw (i > 16 ? 2 : 1.2) pt i ps 0.6
