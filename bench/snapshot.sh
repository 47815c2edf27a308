#!/usr/bin/env bash
# How long does it take to bring a new agent the whole state? A master, a monitor that emulates the servers, and real
# agents, over Unix sockets, one after the other. Prints the master's own times (tarcil_master_snapshot_seconds): from an
# agent's attachment until it has taken in the last of the state.
#   bench/snapshot.sh [SERVERS [AGENTS]]      default: 100000 servers of 10 units, 10 agents
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/common.sh"
servers=${1-100000} agents=${2-10}
tarcil=build/release/tarcil
[[ -x $tarcil ]] || die 2 "not built; run: cmake --preset release && cmake --build --preset release"
folder=$(folder_on_disk bench)
data=$folder/data
agent=
stopAgent() {
  [[ -n $agent ]] || return 0
  kill "$agent" 2>/dev/null || true
  wait "$agent" || true
  agent=
}
cleanUp() {
  stopAgent
  "$tarcil" down --data "$data" >/dev/null 2>&1 || true
  rm -rf "$folder"
}
trap cleanUp EXIT
printf 'servers: [{name: "server-{n}", count: %s, rus: 10}]\n' "$servers" >"$folder/servers.yaml"
"$tarcil" up --detach --data "$data" --emulate "$folder/servers.yaml" >/dev/null || die 1 "the cluster did not start"

# Of the master: the value of this metric.
metric() { "$tarcil" metrics --data "$data" master | awk -v name="$1" '$1 == name { print $2 }'; }

mkfifo "$folder/ready"
before=$(metric tarcil_master_snapshot_seconds_sum)
count=$(metric tarcil_master_snapshot_seconds_count)
for ((i = 1; i <= agents; ++i)); do
  "$tarcil" serve agent --name "new-$i" --master "unix:$data/run/master.sock" --token-file "$data/tokens/agent.token" \
    --listen "unix:$folder/agent.sock" --ready-fd 3 3>"$folder/ready" >"$folder/log" 2>&1 &
  agent=$!
  read -r _ <"$folder/ready" || die 1 "an agent did not start: $(tail -n 3 "$folder/log")"
  # The agent is ready a moment before the master knows it.
  until (($(metric tarcil_master_snapshot_seconds_count) > count)); do sleep 0.01; done
  count=$((count + 1))
  stopAgent
  after=$(metric tarcil_master_snapshot_seconds_sum)
  awk -v i="$i" -v s="$servers" -v a="$before" -v b="$after" \
    'BEGIN { printf "agent %d: %d servers in %.0f ms\n", i, s, (b - a) * 1000 }'
  before=$after
done
