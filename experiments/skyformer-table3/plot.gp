# Usage, in a folder with ratios.csv: gnuplot plot.gp
# The ratio of the score to softmax attention's against n: mean over seeds with 95 % intervals, and Table 3's number for ListOps.
set terminal svg size 1100,420 dynamic font 'sans,12' background '#ffffff'
set output 'ratios.svg'
set datafile separator ','
set termoption noenhanced
set grid lc rgb '#dddddd'
set logscale xy
set xlabel 'tokens n'
set xtics (64, 256, 512, 1024)
set xrange [48:1400]
attentions = 'kernelized skyformer nystromformer kernelized-mean'
names = 'kernelized Skyformer Nyströmformer "C V / n"'
colours = '#0072B2 #56B4E9 #D55E00 #999999'
of(norm, reading, attention, c) = stringcolumn(2) eq norm && stringcolumn(3) eq reading && stringcolumn(4) eq attention ? column(c) : NaN
set multiplot layout 1,3
do for [panel = 1:3] {
  norm = panel == 3 ? 'before' : 'after'
  reading = panel == 2 ? 'fresh' : 'none'
  set title panel == 1 ? 'no dropout, after the last LayerNorm' : panel == 2 ? 'fresh masks of dropout, after it' : 'no dropout, before it'
  if (panel == 3) { set yrange [0.1:100000]; set ytics auto } else { set yrange [0.2:4]; set ytics (0.25, 0.5, 1, 2, 4) }
  if (panel == 1) { set ylabel "score over softmax attention's" } else { unset ylabel }
  if (panel == 1) { set key top left font ',10' } else { set key off }
  plot 1 notitle lc rgb '#000000' lw 1, 0.77 title 'Table 3, kernelized' lc rgb '#0072B2' dt 3 lw 1.5, \
    for [i = 1:words(attentions)] 'ratios.csv' skip 1 using ($1 * 1.03 ** (i - 2)):(of(norm, reading, word(attentions, i), 6)):(of(norm, reading, word(attentions, i), 7)) \
    title word(names, i) with yerrorlines lw 1.5 pt 7 ps .5 lc rgb word(colours, i)
}
unset multiplot
