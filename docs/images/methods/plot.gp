# In the folder with text.summary.csv and heavy-norms.summary.csv:
#   gnuplot -e "method='skyformer'; out='skyformer.svg'; remarks='/failed at d = 16'; top=2" plot.gp
# remarks: what is not drawn on the left, a slash, what is not on the right. top: of the axes.
set terminal svg size 640,250 dynamic font 'sans,11' background '#ffffff'
set output out
set datafile separator ','
set datafile missing NaN
set logscale xy
set format y '%g'
set xlabel 'd'
set xtics (16, 64, 256) nomirror scale 0.5
set ytics 10 nomirror scale 0.5
set mytics 1
set xrange [14:290]
set yrange [*:top]
most = 1e4
# Columns: 2 method, 8 features, 9 metric, 10 count, 12 mean, 13 standard error.
pick(name) = stringcolumn(9) eq 'spectral_rel' && stringcolumn(2) eq name && stringcolumn(10) ne '0' && column(12) <= most ? column(12) : NaN
bar(c) = stringcolumn(c) eq 'NA' ? 0 : column(c)
set multiplot layout 1,2
do for [input in 'text heavy-norms'] {
  file = input.'.summary.csv'
  slash = strstrt(remarks, '/')
  remark = input eq 'text' ? remarks[1:slash - 1] : remarks[slash + 1:*]
  set title input.', n = 1024'.(remarks eq '/' ? '' : "\n".(remark eq '' ? ' ' : remark)) noenhanced
  if (input eq 'text') { set ylabel '||O-O~|| / ||O||' noenhanced; unset key } else { unset ylabel; set key bottom left samplen 1.5 font ',10' noenhanced }
  plot file using 8:(pick('v-mean')) with lines lc rgb '#7F7F7F' dt 2 lw 1.4 title 'v-mean', \
    '' using 8:(pick('best-rank-d')) with lines lc rgb '#000000' dt 3 lw 1.4 title 'best-rank-d', \
    '' using 8:(pick(method)):(bar(13)) with yerrorlines lc rgb '#0072B2' lw 1.8 pt 7 ps 0.5 title method
}
unset multiplot
