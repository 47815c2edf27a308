#!/usr/bin/env bash
# Takes out one guard of the protocol after the other and expects a test to notice; see tests/guards/guards.toml.
#   scripts/check-guards.sh [--list] [--only NAME]... [--scratch FOLDER]
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
exec python3 tests/guards/check_guards.py --jobs "$(parallelism)" "$@"
