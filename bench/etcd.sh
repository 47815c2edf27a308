#!/usr/bin/env bash
# The master's stores beside each other: the same cycles of claim and release, and the same batches, with RocksDB and with etcd of one member and of
# three; and beside agents that compare and swap in etcd themselves, as other cluster schedulers do. By turns, each on a fresh store with synced
# writes. Needs gRPC and etcd-server, which scripts/install-packages.sh --dev installs.
#   bench/etcd.sh [--rounds N] [--outstanding N] [--seconds N]      default: 2 rounds, 64 outstanding, 10 s
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/common.sh"
rounds=2 outstanding=64 seconds=10
while (($#)); do
  [[ $1 =~ ^--(rounds|outstanding|seconds)$ && ${2-} =~ ^[1-9][0-9]*$ ]] ||
    die 2 "'$1 ${2-}' is not understood; write --rounds N, --outstanding N or --seconds N"
  declare "${1#--}=$2"
  shift 2
done
programs=build/release
[[ -x $programs/bench/etcd_claims && -x $programs/bench/store_writes && -x $programs/bench/commits ]] ||
  die 2 "not built; run: scripts/install-packages.sh --dev && cmake --preset release && cmake --build --preset bench"
command -v etcd >/dev/null || die 2 "etcd is not installed; run: scripts/install-packages.sh --dev"
folder=$(folder_on_disk bench)
cycles=(--tasks 1 --rus-per-task 8 --outstanding "$outstanding" --seconds "$seconds")
urls='' members=()
stopEtcd() {
  ((${#members[@]})) || return 0
  kill "${members[@]}" 2>/dev/null || true
  wait "${members[@]}" 2>/dev/null || true
  members=()
  rm -rf "$folder/etcd" "$folder/stores"
}
cleanUp() {
  stopEtcd
  rm -rf "$folder"
}
trap cleanUp EXIT

# So many members on this machine, with nothing in them; not at etcd's own ports, so that it may run beside another one.
startEtcd() {
  local number cluster=''
  for ((number = 0; number < $1; ++number)); do cluster+=",m$number=http://127.0.0.1:4248$number"; done
  mkdir -m 700 "$folder/etcd"
  urls=''
  for ((number = 0; number < $1; ++number)); do
    etcd --name "m$number" --data-dir "$folder/etcd/$number" --quota-backend-bytes $((8 << 30)) --logger zap --log-level error \
      --listen-client-urls "http://127.0.0.1:4247$number" --advertise-client-urls "http://127.0.0.1:4247$number" \
      --listen-peer-urls "http://127.0.0.1:4248$number" --initial-advertise-peer-urls "http://127.0.0.1:4248$number" \
      --initial-cluster "${cluster#,}" >>"$folder/etcd.log" 2>&1 &
    members+=($!)
    urls+=",http://127.0.0.1:4247$number"
  done
  urls=${urls#,}
}

failed() { die 1 "failed; etcd said: $(tail -n 3 "$folder/etcd.log")"; }

writeBatches() {
  mkdir -m 700 "$folder/stores"
  for commits in 1 64; do
    "$programs/bench/store_writes" --folder "$folder/stores" --etcd "$urls" --rounds 1 --commits "$commits" --seconds "$seconds" || failed
  done
}

for ((round = 1; round <= rounds; ++round)); do
  step "Round $round: the master, with RocksDB"
  bench/commits.sh "${cycles[@]}"
  for count in 1 3; do
    step "Round $round: batches of commits, to RocksDB and to etcd with $count member(s)"
    startEtcd "$count"
    writeBatches
    stopEtcd
    step "Round $round: the master, with etcd of $count member(s)"
    startEtcd "$count"
    bench/commits.sh --etcd "$urls" "${cycles[@]}" || failed
    stopEtcd
  done
  step "Round $round: agents that compare and swap in etcd $(etcd --version | sed -n 's/etcd Version: //p') themselves, one member"
  startEtcd 1
  "$programs/bench/etcd_claims" "${urls#http://}" --outstanding "$outstanding" --seconds "$seconds" || failed
  stopEtcd
done
