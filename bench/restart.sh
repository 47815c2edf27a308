#!/usr/bin/env bash
# How long does a master take to start on a large store, and how much memory has it then? Fills a store (fill_store),
# checks it, kills the master (-9) after each start.
#   bench/restart.sh [--runs N] [ARGUMENT...]      for fill_store, e.g. --jobs 100000 --tasks 1
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/common.sh"
programs=build/release
[[ -x $programs/tarcil && -x $programs/bench/fill_store ]] ||
  die 2 "not built; run: cmake --preset release && cmake --build --preset bench"
runs=5
if [[ ${1-} == --runs ]]; then
  [[ ${2-} =~ ^[1-9][0-9]*$ ]] || die 2 "--runs: '${2-}' is no number of starts; write 1 or more"
  runs=$2
  shift 2
fi
folder=$(folder_on_disk bench)
master=
killMaster() {
  [[ -n $master ]] || return 0
  kill -9 "$master"
  wait "$master" 2>/dev/null || true
  master=
}
cleanUp() {
  killMaster
  rm -rf "$folder"
}
trap cleanUp EXIT
umask 077
printf 'operator-token-of-nobody-but-this-bench-1\n' >"$folder/token"
printf 'operator-token-of-nobody-but-this-bench-1 root operate\n' >"$folder/tokens"
"$programs/bench/fill_store" "$folder/master/store" "$@" || die 1 "the store could not be made"
"$programs/tarcil" master check "$folder/master/store" || die 1 "the store is not sound"
du -sm "$folder/master/store" | awk '{print $1 " MiB on disk"}'
for ((run = 1; run <= runs; ++run)); do
  "$programs/tarcil" serve master --data "$folder" --listen "unix:$folder/master.sock" --tokens "$folder/tokens" \
    --keep-finished 10000000 --keep-finished-for 3650d >"$folder/log" 2>&1 &
  master=$!
  answered=$("$programs/bench/first_answer" "unix:$folder/master.sock" "$folder/token") ||
    die 1 "the master does not answer: $(tail -n 5 "$folder/log")"
  printf 'start %d: first answer after %s, resident %s MiB (most so far %s MiB)\n' "$run" "$answered" \
    "$(awk '/VmRSS/ {print int($2 / 1024)}' "/proc/$master/status")" \
    "$(awk '/VmHWM/ {print int($2 / 1024)}' "/proc/$master/status")"
  killMaster
  rm -f "$folder/master.sock"
done
