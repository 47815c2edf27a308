# Plots what sampling_cdf wrote into a folder: gnuplot -c sampling_cdf.gp FOLDER svg|png
# Lines are x^R, circles are measured.
folder = ARG1
kind = ARG2
set datafile separator ','
set grid lc rgb '#dddddd'
set xrange [0:1]
set xlabel 'quality of the best of R: rank among the free slots'
set key left top
array ratios[4] = [8, 16, 32, 64]
array colours[4] = ['#1b9e77', '#d95f02', '#7570b3', '#e7298a']

# Figure 3 of Tarcil: linear and logarithmic.
eval sprintf("set terminal %s size 1000,420 background rgb 'white'", kind)
set output folder.'/sampling-figure-3.'.kind
file = folder.'/uniform.csv'
set multiplot layout 1,2
set ylabel 'CDF'
plot for [i=1:4] file using 1:2*i with lines lw 2 lc rgb colours[i] title sprintf('R = %d', ratios[i]), \
     for [i=1:4] file using 1:2*i+1 every 5 with points pt 6 ps 0.7 lc rgb colours[i] notitle
set logscale y
set yrange [1e-5:1]
set format y '10^{%T}'
unset key
replot
unset multiplot
unset logscale y
set format y
set yrange [0:1]

# Figure 4: filled clusters.
eval sprintf("set terminal %s size 1000,1100 background rgb 'white'", kind)
set output folder.'/sampling-figure-4.'.kind
set multiplot layout 3,2
set key left top
array servers[5] = [10000, 10000, 10000, 10000, 100]
array load[5] = [30, 60, 80, 90, 72]
do for [c=1:5] {
  file = sprintf('%s/servers-%d-load-%d.csv', folder, servers[c], load[c])
  set title sprintf('%d servers, %d %% taken', servers[c], load[c])
  plot for [i=1:4] file using 1:2*i with lines lw 2 lc rgb colours[i] title sprintf('R = %d', ratios[i]), \
       for [i=1:4] file using 1:2*i+1 every 5 with points pt 6 ps 0.7 lc rgb colours[i] notitle
}
unset multiplot
