#!/usr/bin/env bash
# How long `tarcil run -- true` takes as a whole process on a running cluster, beside /bin/true.
#   bench/run_true.sh [RUNS [DATA]]      DATA: folder given to `tarcil up`; default as for every command
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/common.sh"
(($# <= 2)) || die 2 "usage: bench/run_true.sh [RUNS [DATA]]"
runs=${1:-200}
[[ -z ${2:-} ]] || export TARCIL_DATA=$2
exec build/release/bench/command_time --runs "$runs" -- build/release/tarcil run -- true
