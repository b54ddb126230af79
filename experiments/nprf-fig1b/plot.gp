# Usage: gnuplot -e "csv='variance.summary.csv'; out='figure.svg'" plot.gp
set terminal svg size 760,520 dynamic font 'sans,14' background '#ffffff'
set output out
set datafile separator ','
set datafile columnheaders
set datafile missing NaN
set logscale x 2
set xlabel 'features m'
set ylabel '||A - A~||_1 of a normalised row of scores' noenhanced
set yrange [0:2.1]
set grid lc rgb '#dddddd'
set key outside right top
set title 'PRF, p = 64, 1024 keys: mean and standard error of 20 draws' noenhanced
set xrange [3.5:1200]
plot for [r = 1:6] csv using (column('norm') == r && stringcolumn('metric') eq 'l1_error' ? column('features') : NaN):'mean':'standard_error' with yerrorlines lw 2 title sprintf('R = %d', r)
