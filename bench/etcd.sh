#!/usr/bin/env bash
# The master beside etcd, the usual store of cluster schedulers: the same cycles of claim and release, by turns, each on
# a fresh store with synced writes. Needs gRPC and etcd-server, which scripts/install-packages.sh --dev installs.
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
[[ -x $programs/bench/etcd_claims && -x $programs/bench/commits ]] ||
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

for ((round = 1; round <= rounds; ++round)); do
  step "Round $round: the master"
  bench/commits.sh --tasks 1 --rus-per-task 8 --outstanding "$outstanding" --seconds "$seconds"
  step "Round $round: etcd $(etcd --version | sed -n 's/etcd Version: //p')"
  runEtcd
done
