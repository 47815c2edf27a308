#!/usr/bin/env bash
# What TLS costs: two clusters of emulated servers over loopback TCP, one with tokens in clear and one whose roles joined, are
# measured by turns. Of each round three figures for either: jobs a second with 64 under way, each of which is a commit, a launch and two reports;
# submissions at 100 a second, from call to answer; late-bound tasks a second of one job.
#   bench/tls.sh [ROUNDS]      default: 3
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/common.sh"
rounds=${1-3}
programs=build/release
[[ -x $programs/tarcil && -x $programs/bench/cluster_bench ]] ||
  die 2 "not built; run: cmake --preset release && cmake --build --preset bench"
folder=$(folder_on_disk tls)
net=127.$((RANDOM % 200 + 20)).$((RANDOM % 200 + 20))
roles=()
cleanUp() {
  for role in "${roles[@]}"; do kill "$role" 2>/dev/null || true; done
  wait || true
  rm -rf "$folder"
}
trap cleanUp EXIT
umask 077
printf 'servers:\n  - {name: "e-{n}", count: 20, rus: 4}\n' >"$folder/servers.yaml"

# serve NAME ARGUMENT...: starts a role and returns once it serves.
serve() {
  local name=$1
  shift
  mkfifo "$folder/$name.ready"
  "$programs/tarcil" serve "$@" --ready-fd 3 3>"$folder/$name.ready" >"$folder/$name.log" 2>&1 &
  roles+=($!)
  read -r _ <"$folder/$name.ready" || die 1 "$name did not start: $(cat "$folder/$name.log")"
}

# monitor WHICH ARGUMENT...: twenty servers of four units, all of which late-bound tasks may have.
monitor() {
  local which=$1
  shift
  serve "$which-monitor" monitor "$@" --emulate "$folder/servers.yaml" --late-binding-units 4
}

plain=$folder/plain joined=$folder/joined
for role in agent monitor; do
  "$programs/tarcil" token --role $role --write "$plain-$role.token" --add "$plain/master/tokens" >/dev/null
done
"$programs/tarcil" token --role operate --user bench --write "$plain.token" --add "$plain/master/tokens" >/dev/null
serve plain-master master --data "$plain" --listen "$net.1:7001" --store "$plain/store"
serve plain-agent agent --name a1 --data "$plain-agent" --master "$net.1:7001" --listen "$net.2:7101" --token-file "$plain-agent.token"
monitor plain --name e --data "$plain-monitor" --master "$net.1:7001" --listen "$net.3:7201" --token-file "$plain-monitor.token"

"$programs/tarcil" init --data "$joined" --listen "$net.11:7001" >/dev/null
serve joined-master master --data "$joined"
"$programs/tarcil" join-token agent --name a1 --data "$joined" |
  "$programs/tarcil" join "$net.11:7002" --data "$joined-agent" --token - >/dev/null
"$programs/tarcil" join-token monitor --name 'e-*' --data "$joined" |
  "$programs/tarcil" join "$net.11:7002" --data "$joined-monitor" --token - >/dev/null
serve joined-agent agent --data "$joined-agent" --listen "$net.12:7101"
monitor joined --name e-1 --data "$joined-monitor" --listen "$net.13:7201"

# measure TITLE CLUSTER TOKEN [ENVIRONMENT...]
measure() {
  local title=$1 at=$2 token=$3 begin
  shift 3
  export TARCIL_CLUSTER=$at TARCIL_TOKEN_FILE=$token
  step "$title: jobs, 64 under way"
  env "$@" "$programs/bench/cluster_bench" --mode throughput --jobs 3000 --outstanding 64 | tail -n +2
  step "$title: submissions, 100 a second"
  env "$@" "$programs/bench/cluster_bench" --mode submit --rate 100 --jobs 500 | tail -n +2
  step "$title: late-bound tasks"
  begin=$(date +%s%N)
  env "$@" "$programs/tarcil" run --policy late-binding --tasks 20000 -- sleep 0 >/dev/null
  echo "$((20000 * 1000000000 / ($(date +%s%N) - begin))) tasks/s"
}

for ((round = 1; round <= rounds; ++round)); do
  measure "plain, round $round" "$net.2:7101" "$plain.token" TARCIL_AUTHORITY=
  measure "TLS, round $round" "$net.12:7101" "$joined/tokens/operate.token" "TARCIL_AUTHORITY=$joined/identity/authority.pem"
done
