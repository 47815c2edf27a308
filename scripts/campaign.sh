#!/usr/bin/env bash
# Carries out the campaign of faults on real clusters, as root: kills, stops, shortages and damage, some 20 minutes in all.
#   scripts/campaign.sh [--build DIR] [--only NAME]... [--list] [--json]     default: build/release, every case
# What each case does and is judged by: tests/faults/campaign.py. Exits with 1 where one failed.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

find_root "running containers"
exec "${as_root[@]}" python3 tests/faults/campaign.py "$@"
