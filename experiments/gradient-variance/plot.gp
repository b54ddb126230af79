# Usage, in a folder with summary.csv: gnuplot plot.gp
# Spread of (dQ, dK) and its cosine with the exact one against R, means over the sets of points, m = 16, 64, 128; the grey line
# has the spread of m = 64 at R = 1/2 and grows as Lemma 2's standard deviation.
set terminal svg size 1100,420 dynamic font 'sans,12' background '#ffffff'
set output 'variance.svg'
set datafile separator ','
set datafile missing NaN
set termoption noenhanced
set grid lc rgb '#dddddd'
set xlabel 'R, norm of queries and keys'
set logscale x 2
set xrange [0.45:9]
methods = 'performer nprf'
names = '"positive features" "of rows of unit length"'
colours = '#0072B2 #D55E00'
of(m, f, c) = stringcolumn(1) eq 'points' && stringcolumn(3) eq m && column(4) == f && stringcolumn(5) eq 'double' ? column(c) : NaN
dash(f) = f eq '16' ? 3 : f eq '64' ? 2 : 1
set multiplot layout 1,3
set key off
set logscale y
set format y '10^{%T}'
set termoption enhanced
set title 'spread of (dQ, dK)'
set yrange [1:1e5]
plot for [i = 1:2] for [f in '16 64 128'] 'summary.csv' skip 1 using 2:(of(word(methods, i), int(f), 6)) \
  with linespoints lc rgb word(colours, i) dt dash(f) pt 5 + i ps 0.6, \
  11.3 * sqrt((exp(2 * x**2) - 1) / (exp(0.5) - 1)) with lines lc rgb '#888888'
set key off
set title 'spread over the exact norm'
set yrange [0.2:30]
set format y '%g'
plot for [i = 1:2] for [f in '16 64 128'] 'summary.csv' skip 1 using 2:(of(word(methods, i), int(f), 7)) \
  with linespoints lc rgb word(colours, i) dt dash(f) pt 5 + i ps 0.6
unset logscale y
set title 'cosine with the exact one'
set yrange [0:1]
set key top right font ',10'
plot for [i = 1:2] for [f in '16 64 128'] 'summary.csv' skip 1 using 2:(of(word(methods, i), int(f), 9)) \
  title word(names, i).', m = '.f with linespoints lc rgb word(colours, i) dt dash(f) pt 5 + i ps 0.6, \
  NaN title 'as ((e^{2R^2} - 1) / m)^{1/2}' with lines lc rgb '#888888'
unset multiplot
