#!/usr/bin/env bash
# What a master takes: starts one in a folder of its own and loads it with bench/commits, which see.
#   bench/commits.sh [--etcd URL,...] [ARGUMENT...]      for commits, e.g. --agents 1 --outstanding 1; in that etcd, which has no store yet,
# in place of a folder
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/common.sh"
programs=build/release
store=()
if [[ ${1-} == --etcd ]]; then
  store=(--etcd "${2?'--etcd takes URLs'}" --etcd-new --etcd-wait 10s --etcd-quota 8GiB)
  shift 2
fi
[[ -x $programs/tarcil && -x $programs/bench/commits ]] ||
  die 2 "not built; run: cmake --preset release && cmake --build --preset bench"
folder=$(folder_on_disk bench)
master=
cleanUp() {
  if [[ -n $master ]]; then
    kill "$master" 2>/dev/null
    wait "$master"
  fi
  rm -rf "$folder"
}
trap cleanUp EXIT
umask 077
printf 'agent-token-of-nobody-but-this-bench-0001\n' >"$folder/agent"
printf 'monitor-token-of-nobody-but-this-bench-01\n' >"$folder/monitor"
printf 'user-token-of-nobody-but-this-bench-00001\n' >"$folder/user"
printf '%s\n' "$(<"$folder/agent") a agent" "$(<"$folder/monitor") m monitor" "$(<"$folder/user") bench submit bench" >"$folder/tokens"
mkfifo "$folder/ready"
"$programs/tarcil" serve master --data "$folder" --listen "unix:$folder/master.sock" --tokens "$folder/tokens" \
  "${store[@]}" --ready-fd 3 3>"$folder/ready" >"$folder/log" 2>&1 &
master=$!
read -r _ <"$folder/ready" || die 1 "the master did not start: $(cat "$folder/log")"
"$programs/bench/commits" --master "unix:$folder/master.sock" --agent-token "$folder/agent" \
  --monitor-token "$folder/monitor" --user-token "$folder/user" "$@" || die 1 "failed; the master said: $(tail -n 5 "$folder/log")"
