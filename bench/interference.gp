# Plots what bench/interference.py measured: gnuplot -c interference.gp FOLDER
folder = ARG1
set terminal png size 900,380 background rgb 'white'
set output folder.'/interference.png'
set grid lc rgb '#dddddd'
set xlabel 'seconds'
set ylabel 'requests a second'
stats folder.'/interference.tsv' using 2 nooutput
top = STATS_max * 1.3
set yrange [0:top]
marks = folder.'/interference-marks.tsv'
plot folder.'/interference.tsv' with lines lw 2 lc rgb '#1b9e77' title 'memcached', \
     marks using 1:(0):(0):(top) with vectors nohead dt 2 lc rgb '#666666' notitle, \
     marks using 1:(top * (0.97 - 0.06 * (int($0) % 3))):2 with labels left offset 0.5,0 notitle
