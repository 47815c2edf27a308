#!/usr/bin/env bash
# Figures 3 and 4 of Tarcil: measures, and plots as SVG and PNG (gnuplot-nox). About a minute.
#   bench/figures/sampling_cdf.sh [FOLDER]      where data and plots go; default: build/figures
source "$(dirname "${BASH_SOURCE[0]}")/../../scripts/common.sh"
(($# <= 1)) || die 2 "takes at most a folder"
folder=${1:-build/figures}
program=build/release/bench/sampling_cdf
[[ -x $program ]] || die 2 "not built; run: cmake --preset release && cmake --build --preset bench"
command -v gnuplot >/dev/null || die 1 "no gnuplot; run: scripts/install-packages.sh --dev"
mkdir -p "$folder"
status=0
"$program" "$folder" || status=$?
for kind in svg png; do
  gnuplot -c bench/figures/sampling_cdf.gp "$folder" "$kind"
done
printf '\nwritten to %s: data as CSV, plots as SVG and PNG\n' "$folder"
exit "$status"
