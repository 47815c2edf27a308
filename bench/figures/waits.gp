# Plots what bench/queueing wrote into a folder: gnuplot -c waits.gp FOLDER svg|png
folder = ARG1
kind = ARG2
set grid lc rgb '#dddddd'
eval sprintf("set terminal %s size 1000,380 background rgb 'white'", kind)
set output folder.'/waits.'.kind
set multiplot layout 1,3
set logscale y
set format y '%g'

set title 'waits by load'
set xlabel 'load, %'
set ylabel 'ms from submission to grant'
set key left top reverse Left samplen 1 opaque
set xrange [45:101]
file = folder.'/by-load.tsv'
plot file using ($1*100):2 with linespoints lw 2 pt 7 lc rgb '#1b9e77' title 'mean', \
     file using ($1*100):3 with linespoints lw 2 pt 7 lc rgb '#d95f02' title '95th percentile', \
     file using ($1*100):4 with linespoints lw 2 pt 7 lc rgb '#7570b3' title '99th percentile'

set title 'high and low priority'
set xlabel 'part of the stream that is of high priority, %'
set ylabel 'ms in the mean'
set xrange [5:55]
set yrange [1:10000]
file = folder.'/by-priority.tsv'
plot file using ($1 == 0.95 ? $2*100 : NaN):4 with linespoints lw 2 pt 7 lc rgb '#d95f02' title 'low at 95 %', \
     file using ($1 == 0.95 ? $2*100 : NaN):3 with linespoints lw 2 pt 7 lc rgb '#1b9e77' title 'high at 95 %', \
     file using ($1 == 0.80 ? $2*100 : NaN):4 with linespoints dt 2 pt 6 lc rgb '#d95f02' title 'low at 80 %', \
     file using ($1 == 0.80 ? $2*100 : NaN):3 with linespoints dt 2 pt 6 lc rgb '#1b9e77' title 'high at 80 %'

set title 'foretold and come, at 85 %'
set xlabel 's foretold in the mean'
set ylabel 's that it took'
set logscale x
set format x '%g'
set xrange [0.5:1000]
set yrange [0.5:1000]
set key right bottom noreverse Right
file = folder.'/told-85.tsv'
array names[3] = ['one unit', 'a whole server', 'a gang']
array colours[3] = ['#7570b3', '#1b9e77', '#d95f02']
plot for [g=0:2] file using ($1 == g ? $2 : 1/0):4 with points pt 6 ps 0.4 lc rgb colours[g+1] title names[g+1], \
     x with lines lc rgb '#666666' notitle
unset multiplot
