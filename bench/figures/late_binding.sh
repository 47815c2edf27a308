#!/usr/bin/env bash
# Late binding in simulation, beside Sparrow's: reservations that carry profiles, and probes by load. 100 servers of 8
# units, tasks of 100 ms and 10 ms, loads 0.2 to 0.9, half a minute.
#   bench/figures/late_binding.sh [FOLDER]      where the runs go as JSON; default: build/figures
source "$(dirname "${BASH_SOURCE[0]}")/../../scripts/common.sh"
(($# <= 1)) || die 2 "takes at most a folder"
folder=${1:-build/figures}
tarcil=${TARCIL:-build/release/tarcil}
seeds=${SEEDS:-1..3}
[[ -x $tarcil ]] || die 2 "not built; run: cmake --preset release && cmake --build --preset release"
mkdir -p "$folder"

# simulate NAME ARGUMENT...: runs it at each load, keeps the JSON, and shows the table.
simulate() {
  local name=$1
  shift
  for load in 0.2 0.4 0.6 0.8 0.9; do
    "$tarcil" sim --servers 100 --rus-per-server 8 --jobs 4000 --tasks 10 --seeds "$seeds" --load "$load" --json "$@" \
      >"$folder/$name-$load.json"
  done
  python3 bench/figures/late_binding.py "$folder/$name"-*.json
}

step "with interference: plain, and by the jobs' profiles; tasks of 100 ms"
simulate late-binding-aware --policy late-binding,late-binding-aware --mean-ms 100
for mean in 100 10; do
  step "queueing alone: d = 2, and d by load; tasks of $mean ms"
  simulate "late-binding-adaptive-$mean" --policy late-binding,late-binding-adaptive --mean-ms "$mean" --no-interference
done
printf '\nwritten to %s\n' "$folder"
