# ladder.gp - achieved TFLOPS of every rung as bars, published peaks as lines.
#   gnuplot -e "data='build/plots/results.tsv'; out='build/plots/ladder'" plots/ladder.gp
# Colours are the blind-safe set of Okabe and Ito.
set datafile separator "\t"
stats data using 2 nooutput
rows = int(STATS_records)
device = system("tail -n 1 ".data." | cut -f6")
kind = system("tail -n 1 ".data." | cut -f5")
size = system("tail -n 1 ".data." | cut -f4")
a100 = real(system("tail -n 1 ".data." | cut -f8"))
h100 = real(system("tail -n 1 ".data." | cut -f9"))
rtx4090 = real(system("tail -n 1 ".data." | cut -f10"))
set title sprintf("Peakbound ladder, %s, size %s, GPU times %s, %s", device, size, kind, \
    strftime("%Y-%m-%d", time(0))) font ",15" noenhanced
set ylabel "TFLOPS (log scale)" font ",14"
set logscale y
set yrange [*:h100 * 2]
set xrange [-0.7:rows - 0.3]
set style fill solid 0.9
set boxwidth 0.7
set grid ytics lc rgb "#cccccc"
set xtics rotate by -25 font ",12" noenhanced
set ytics font ",12"
set key outside top center horizontal font ",12"
do for [format in "svg png"] {
    if (format eq "svg") {
        set terminal svg size 1100,650 font "sans,13"
    } else {
        set terminal pngcairo size 1100,650 font "sans,13"
    }
    set output out.".".format
    plot data using 0:2:xtic(1) with boxes lc rgb "#0072B2" title "achieved", \
        data using 0:2:(sprintf("%.3g", $2)) with labels offset 0,0.8 font ",12" notitle, \
        a100 with lines lw 3 lc rgb "#E69F00" title sprintf("A100 peak %.4g", a100), \
        h100 with lines lw 3 lc rgb "#D55E00" title sprintf("H100 peak %.4g", h100), \
        rtx4090 with lines lw 3 lc rgb "#009E73" title sprintf("RTX 4090 peak %.4g", rtx4090)
}
set output
