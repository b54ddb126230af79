# In the folder with text.summary.csv and heavy-norms.summary.csv: gnuplot -e "out='injectivity.svg'" plot.gp
set terminal svg size 900,420 dynamic font 'sans,12' background '#ffffff'
set output out
set datafile separator ','
set logscale x 2
set xlabel 'd'
set xtics nomirror scale 0.5
set ytics nomirror scale 0.5
set yrange [0:1]
# Columns: 7 name, 8 features, 9 metric, 12 mean.
pick(name) = stringcolumn(9) eq 'injectivity' && stringcolumn(7) eq name ? column(12) : NaN
names = 'gaussian rademacher srht srct sjlt sparse-stack countsketch very-sparse importance accumulative uniform'
colours = '#000000 #7F7F7F #0072B2 #56B4E9 #009E73 #8B4513 #E69F00 #CC79A7 #D55E00 #999933 #882255'
set datafile missing NaN
set multiplot layout 1,2
do for [i = 1:2] {
  file = word('text.summary.csv heavy-norms.summary.csv', i)
  set title (i == 1 ? 'V of the sample text, n = 1024, r = 64' : 'Q of heavy-norms, n = 512, r = 16')
  if (i == 1) { set ylabel 'injectivity: smallest singular value of S^TU' noenhanced; unset key } else { unset ylabel; set key outside right reverse Left samplen 1.5 font ',11' noenhanced }
  plot for [k = 1:words(names)] file using 8:(pick(word(names, k))) with linespoints lc rgb word(colours, k) lw 1.6 pt k ps 0.5 title word(names, k)
}
unset multiplot
