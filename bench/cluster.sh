#!/usr/bin/env bash
# The figures of docs/benchmarks.md: starts a cluster of 64 resource units on this machine in a folder of its own,
# measures it, stops it. Takes less than half a minute for each number of agents; run it as root, on an idle machine.
#   bench/cluster.sh [AGENTS...]      how many agents; default: 1, then 4
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/common.sh"
(($#)) || set -- 1 4
for agents; do
  [[ $agents =~ ^[1-9][0-9]?$ ]] || die 2 "'$agents' is no number of agents; write 1 to 99"
done
programs=build/release
[[ -x $programs/tarcil && -x $programs/bench/cluster_bench ]] ||
  die 2 "not built; run: cmake --preset release && cmake --build --preset bench"
folder=$(folder_on_disk bench)
# Tasks run as another user, who must get to their folders.
chmod 711 "$folder"
export TARCIL_DATA=
cleanUp() {
  [[ -z $TARCIL_DATA ]] || "$programs/tarcil" down >/dev/null || true
  rm -rf "$folder"
}
trap cleanUp EXIT

for agents; do
  TARCIL_DATA=$folder/agents-$agents
  "$programs/tarcil" up --detach --servers 4 --rus 16 --agents "$agents" >"$folder/up.log" 2>&1 ||
    { TARCIL_DATA='' && die 1 "the cluster did not start: $(cat "$folder/up.log")"; }
  step "$agents agent(s): jobs of one true, submit to durable completion"
  for outstanding in 1 8 64; do
    "$programs/bench/cluster_bench" --mode throughput --jobs $((outstanding < 64 ? 500 : 4000)) \
      --outstanding "$outstanding" | tail -n +2
  done
  step "$agents agent(s): from the end of a job to the answer of its wait"
  "$programs/bench/cluster_bench" --mode wait-lag --jobs 100 | tail -n +2
  step "$agents agent(s): the whole of tarcil run -- true"
  bench/run_true.sh 200
  "$programs/tarcil" down >/dev/null
  TARCIL_DATA=
done
