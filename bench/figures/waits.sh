#!/usr/bin/env bash
# How long jobs wait for one another, and how well that was foretold (Tarcil's figure 12 among it): measures on a virtual
# clock with bench/queueing, and plots as SVG and PNG (gnuplot-nox). About a minute.
#   bench/figures/waits.sh [FOLDER]      where data and plots go; default: build/figures
source "$(dirname "${BASH_SOURCE[0]}")/../../scripts/common.sh"
(($# <= 1)) || die 2 "takes at most a folder"
folder=${1:-build/figures}
program=build/release/bench/queueing
[[ -x $program ]] || die 2 "not built; run: cmake --preset release && cmake --build --preset bench"
command -v gnuplot >/dev/null || die 1 "no gnuplot; run: scripts/install-packages.sh --dev"
mkdir -p "$folder"
"$program" --data "$folder"
for kind in svg png; do
  gnuplot -c bench/figures/waits.gp "$folder" "$kind"
done
printf '\nwritten to %s: data as TSV, plots as SVG and PNG\n' "$folder"
