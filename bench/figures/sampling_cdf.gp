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
     for [i=1:4] file using 1:2*i+1 every 10 with points pt 6 ps 0.7 lc rgb colours[i] notitle
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
array clusters[5] = ['servers-10000-load-30', 'servers-10000-load-60', 'servers-10000-load-80', \
                     'servers-10000-load-90', 'servers-100-load-72']
do for [c=1:5] {
  file = folder.'/'.clusters[c].'.csv'
  set title clusters[c]
  plot for [i=1:4] file using 1:2*i with lines lw 2 lc rgb colours[i] title sprintf('R = %d', ratios[i]), \
       for [i=1:4] file using 1:2*i+1 every 10 with points pt 6 ps 0.7 lc rgb colours[i] notitle
}
unset multiplot
