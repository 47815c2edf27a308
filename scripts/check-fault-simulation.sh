#!/usr/bin/env bash
# Takes out one guard of the protocol after the other and expects the fault simulation to notice; see
# tests/guards/guards.toml, rows with `simulated`.
#   scripts/check-fault-simulation.sh [--only NAME]... [--seeds N] [--scratch FOLDER]
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
exec python3 tests/guards/check_fault_simulation.py --jobs "$(parallelism)" "$@"
