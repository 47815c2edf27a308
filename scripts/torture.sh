#!/usr/bin/env bash
# Kills a master again and again while agents commit, and checks that it kept every promise (tests/torture).
#   scripts/torture.sh [--seconds N] [--seed S] [--build FOLDER]     default: 120 s, seeds from 1, build/release
# Goes in rounds of at most 30 s with a seed each. A round that fails prints its seed and keeps its files.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

seconds=120 seed=1 build=build/release
while (($# > 0)); do
  case $1 in
    --seconds) seconds=${2:?} ;;
    --seed) seed=${2:?} ;;
    --build) build=${2:?} ;;
    *) die 2 "unknown argument $1; see the top of this file" ;;
  esac
  shift 2
done
torture=$build/tests/tarcil_torture check=$build/tests/tarcil_torture_check
[[ -x $torture && -x $check ]] || die 2 "not built; run: cmake --preset release && cmake --build --preset release"

folder=$(folder_on_disk torture)
# round FOLDER SECONDS: tarcil's own check of a store is asked too; it says nothing where nothing is wrong.
round() {
  "$torture" --tarcil "$build/tarcil" --folder "$1" --seconds "$2" --seed "$seed" || return
  "$check" "$1/history" "$1/store" || return
  "$build/tarcil" master check "$1/store" >"$1/check" 2>&1 || { cat "$1/check" && return 1; }
}

while ((seconds > 0)); do
  part=$((seconds < 30 ? seconds : 30))
  step "seed $seed, $part s"
  round "$folder/$seed" "$part" ||
    die 1 "a promise was broken; files are in $folder/$seed (the log of the master: log; events: $check --print $folder/$seed/history); again: $0 --seed $seed --seconds $part"
  rm -rf "${folder:?}/$seed"
  seconds=$((seconds - part)) seed=$((seed + 1))
done
rmdir "$folder"
