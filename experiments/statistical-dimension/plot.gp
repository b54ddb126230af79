# Usage: gnuplot -e "csv='dimension.summary.csv'; runs='dimension'; out='figure.svg'" plot.gp
# d_stat (above) and landmarks (below: Theorem 2 dashed, enough solid), a panel a width.
set terminal svg size 1500,760 dynamic font 'sans,13' background '#ffffff'
set output out
set datafile separator ','
set datafile columnheaders
set datafile missing NaN
file = word(runs, 1).'.csv'
set logscale xy
set format y '%g'
set xlabel 'tokens n'
set xtics (64, 128, 256, 512, 1024, 2048, 4096)
set grid lc rgb '#dddddd'
array widths = [0.5, 1, 2]
array epsilons = [0.01, 0.1, 0.5]
colours = '#0072B2 #D55E00 #009E73'
pick(w, e, c) = column('width') == widths[w] && column('epsilon') == epsilons[e] ? column(c) : NaN
set multiplot layout 2,3
set xrange [110:2400]
do for [w = 1:3] {
  set title sprintf('width %g p^{1/4}', widths[w])
  set ylabel 'd_stat' noenhanced
  set yrange [1:8192]
  if (w == 1) { set key bottom right } else { set key off }
  plot for [e = 1:3] file using 'n':(pick(w, e, 'd_stat')) with linespoints lw 2 pt 7 ps 0.6 lc rgb word(colours, e) title sprintf('eps = %g', epsilons[e]), \
    file using 'n':(2 * column('n')) with lines dt 3 lc rgb '#7F7F7F' title '2n'
}
unset title
set key off
do for [w = 1:3] {
  set ylabel 'landmarks d' noenhanced
  set yrange [1:2e6]
  plot for [e = 1:3] file using 'n':(pick(w, e, 'd_theorem')) with linespoints dt 2 lw 2 pt 7 ps 0.6 lc rgb word(colours, e), \
    for [e = 1:3] file using 'n':(pick(w, e, 'd_suffices')) with linespoints lw 2 pt 7 ps 0.6 lc rgb word(colours, e), \
    file using 'n':(2 * column('n')) with lines dt 3 lc rgb '#7F7F7F'
}
unset multiplot
