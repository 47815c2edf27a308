# Plots what large_scale.sh wrote into a folder: gnuplot -c large_scale.gp FOLDER svg|png
folder = ARG1
kind = ARG2
set datafile separator ','
set grid lc rgb '#dddddd'
set xlabel 'jobs from worst to best, %'
set ylabel 'performance: ideal response / response'
set yrange [0:1.05]
set key right bottom
array colours[7] = ['#888888', '#d95f02', '#7570b3', '#66a61e', '#1b9e77', '#e6ab02', '#e7298a']
array names[7] = ['ideal', 'quality', 'greedy', 'greedy-least-loaded', 'batch', 'least-loaded', 'random']
eval sprintf("set terminal %s size 1000,760 background rgb 'white'", kind)
set output folder.'/large-scale.'.kind
set multiplot layout 2,2
array errors[4] = ['0', '0.05', '0.1', '0.2']
do for [e=1:4] {
  set title 'profiles off by '.errors[e]
  file = folder.'/large-scale-error-'.errors[e].'.csv'
  plot for [i=1:7] file using 1:(column(i+1)) with lines lw 2 lc rgb colours[i] title names[i]
}
unset multiplot
