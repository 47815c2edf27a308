#!/usr/bin/env bash
# Kills, stops and cuts off any process of a cluster with three masters on three etcd, and fills a disk of etcd, while jobs are submitted, as root, ten
# minutes by default.
#   scripts/kill-masters.sh [--seconds N] [--seed S] [--build DIR] [--json]     default: 600 s, seed 1, build/release
# What is judged: tests/faults/nine.py. Exits with 1 where something was lost or started twice.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

find_root "running containers"
exec "${as_root[@]}" python3 tests/faults/nine.py "$@"
