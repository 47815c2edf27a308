#!/usr/bin/env bash
# The master's stores beside each other: the same batches to RocksDB and to etcd, of one member and of three. And the master beside agents that
# compare and swap in etcd themselves, as cluster schedulers do: the same cycles of claim and release, by turns, each on a fresh store with synced writes. Needs gRPC and etcd-server, which scripts/install-packages.sh --dev installs.
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
etcd=
stopEtcd() {
  [[ -n $etcd ]] || return 0
  kill "$etcd" 2>/dev/null || true
  wait "$etcd" 2>/dev/null || true
  etcd=
}
cleanUp() {
  stopEtcd
  rm -rf "$folder"
}
trap cleanUp EXIT

# Not etcd's own ports, so that it may run beside another one.
clients=http://127.0.0.1:42379 peers=http://127.0.0.1:42380
runEtcd() {
  rm -rf "$folder/etcd"
  mkdir -m 700 "$folder/etcd"
  etcd --data-dir "$folder/etcd" --quota-backend-bytes $((8 << 30)) --logger zap --log-level error \
    --listen-client-urls "$clients" --advertise-client-urls "$clients" --listen-peer-urls "$peers" \
    --initial-advertise-peer-urls "$peers" --initial-cluster "default=$peers" >"$folder/etcd.log" 2>&1 &
  etcd=$!
  "$programs/bench/etcd_claims" "${clients#http://}" --outstanding "$outstanding" --seconds "$seconds" ||
    die 1 "failed; etcd said: $(tail -n 3 "$folder/etcd.log")"
  stopEtcd
}

# One member, or three on this machine, as the master's store.
runStores() {
  local members=$1 cluster='' urls='' member pids=()
  for ((member = 0; member < members; ++member)); do cluster+=",m$member=http://127.0.0.1:4248$member" urls+=",http://127.0.0.1:4247$member"; done
  for ((member = 0; member < members; ++member)); do
    mkdir -p "$folder/stores" && chmod 700 "$folder/stores"
    etcd --name "m$member" --data-dir "$folder/stores/$members-$member" --quota-backend-bytes $((8 << 30)) --logger zap --log-level error \
      --listen-client-urls "http://127.0.0.1:4247$member" --advertise-client-urls "http://127.0.0.1:4247$member" \
      --listen-peer-urls "http://127.0.0.1:4248$member" --initial-advertise-peer-urls "http://127.0.0.1:4248$member" \
      --initial-cluster "${cluster#,}" >>"$folder/etcd.log" 2>&1 &
    pids+=($!)
  done
  local outcome=0
  for commits in 1 64; do
    "$programs/bench/store_writes" --folder "$folder/stores" --etcd "${urls#,}" --rounds 1 --commits "$commits" --seconds "$seconds" || outcome=1
  done
  kill "${pids[@]}" 2>/dev/null || true
  wait "${pids[@]}" 2>/dev/null || true
  rm -rf "$folder/stores"
  ((outcome == 0)) || die 1 "failed; etcd said: $(tail -n 3 "$folder/etcd.log")"
}

for ((round = 1; round <= rounds; ++round)); do
  for members in 1 3; do
    step "Round $round: batches of commits, to RocksDB and to etcd with $members member(s)"
    runStores "$members"
  done
  step "Round $round: the master"
  bench/commits.sh --tasks 1 --rus-per-task 8 --outstanding "$outstanding" --seconds "$seconds"
  step "Round $round: etcd $(etcd --version | sed -n 's/etcd Version: //p')"
  runEtcd
done
