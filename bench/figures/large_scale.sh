#!/usr/bin/env bash
# Tarcil 6.3 in simulation (Fig. 15a): how fast 7,200 mixed jobs ran under each policy, with profiles that are off by
# 0, 5, 10 and 20 %; and, where co-run measurements are given, on those. Some minutes of processor time for each seed.
#   bench/figures/large_scale.sh [FOLDER [PAIRS.csv TRIPLES.csv]]      where data and plots go; default: build/figures
source "$(dirname "${BASH_SOURCE[0]}")/../../scripts/common.sh"
(($# <= 1 || $# == 3)) || die 2 "takes a folder, and the files of pairs and triples (docs/simulator.md says which)"
folder=${1:-build/figures}
tarcil=build/release/tarcil
scenario=bench/figures/large_scale.yaml
seeds=${SEEDS:-1..6}
[[ -x $tarcil ]] || die 2 "not built; run: cmake --preset release && cmake --build --preset release"
command -v gnuplot >/dev/null || die 1 "no gnuplot; run: scripts/install-packages.sh --dev"
mkdir -p "$folder"

# simulate NAME ARGUMENT...: runs it, keeps the JSON, and shows the table.
simulate() {
  local name=$1
  shift
  "$tarcil" sim --seeds "$seeds" --json "$@" >"$folder/$name.json"
  python3 bench/figures/large_scale.py "$folder/$name"
}

for error in 0 0.05 0.1 0.2; do
  step "profiles off by $error"
  simulate "large-scale-error-$error" "$scenario" --classification-error "$error"
  printf 'quality without a margin:\n'
  simulate "large-scale-no-margin-error-$error" "$scenario" --classification-error "$error" --policy ideal,quality --margin 0
done
if (($# == 3)); then
  for load in 0.2 0.3 0.4; do
    step "measured co-runs, load $load"
    simulate "large-scale-corun-$load" --corun "$2" "$3" --servers 100 --rus-per-server 3 --jobs 10000 --tasks 1 \
      --mean-ms 60000 --load "$load" --policy bound,ideal,quality,greedy,greedy-least-loaded,late-binding,batch,least-loaded,random
  done
else
  printf '\nno measured co-runs: pass the files of pairs and triples as well (docs/simulator.md says which)\n'
fi
for kind in svg png; do
  gnuplot -c bench/figures/large_scale.gp "$folder" "$kind"
done
printf '\nwritten to %s: runs as JSON, curves as CSV, the plot as SVG and PNG\n' "$folder"
printf 'paper says (Tarcil 6.3): Tarcil 97 %% of optimal on average, at most 8 %% lost; Centralized 82 %%\n'
