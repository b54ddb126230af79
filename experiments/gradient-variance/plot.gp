# Usage, in a folder with summary.csv: gnuplot plot.gp
# Spread of (dQ, dK) and its cosine with the exact one against R, means over the sets of points, m = 16, 64, 128.
set terminal svg size 1100,420 dynamic font 'sans,12' background '#ffffff'
set output 'variance.svg'
set datafile separator ','
set termoption noenhanced
set grid lc rgb '#dddddd'
set xlabel 'R, norm of queries and keys'
set logscale x 2
set xrange [0.45:9]
methods = 'performer nprf'
names = '"positive features" "of unit rows"'
colours = '#0072B2 #D55E00'
of(m, f, c) = stringcolumn(1) eq 'points' && stringcolumn(3) eq m && column(4) == f && stringcolumn(5) eq 'double' ? column(c) : NaN
set multiplot layout 1,3
set key off
set logscale y
set format y '10^{%T}'
set termoption enhanced
set title 'spread of (dQ, dK)'
set yrange [1:1e6]
set key top left font ',10'
kernel(f) = 13.0
plot for [i = 1:2] for [f in '16 64 128'] 'summary.csv' skip 1 using 2:(of(word(methods, i), int(f), 6)) \
  title word(names, i).', m = '.f with linespoints lc rgb word(colours, i) dt (f eq '16' ? 3 : f eq '64' ? 2 : 1) pt i ps 0.5, \
  [0.45:9] 8 * sqrt((exp(2 * x**2) - 1) / 64) / sqrt(exp(1) - 1) title 'as ((e^{2R^2} - 1) / m)^{1/2}' with lines lc rgb '#888888'
set key off
set title 'spread over the exact norm'
set yrange [0.2:30]
set format y '%g'
plot for [i = 1:2] for [f in '16 64 128'] 'summary.csv' skip 1 using 2:(of(word(methods, i), int(f), 7)) \
  with linespoints lc rgb word(colours, i) dt (f eq '16' ? 3 : f eq '64' ? 2 : 1) pt i ps 0.5
unset logscale y
set title 'cosine with the exact one'
set yrange [0:1]
plot for [i = 1:2] for [f in '16 64 128'] 'summary.csv' skip 1 using 2:(of(word(methods, i), int(f), 9)) \
  with linespoints lc rgb word(colours, i) dt (f eq '16' ? 3 : f eq '64' ? 2 : 1) pt i ps 0.5
unset multiplot
