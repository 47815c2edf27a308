#!/usr/bin/env bash
# Has libFuzzer look for inputs that a reader does not bear (tests/fuzz), with address and undefined-behaviour sanitizers: one
# target after the other, two at once. Needs clang with libclang-rt.
#   scripts/fuzz.sh [--seconds N] [--runs N] [--target NAME]...
# --seconds  for each target; default 600
# --runs     so many inputs of each target in place of a time, always the same ones where the machine lets addresses be the same
# --target   only this one; can be given more than once. All of them: tests/fuzz/targets
# What reaches new code is kept in build/fuzz/corpus and tried first the next time. What breaks something is left in
# build/fuzz/found; once it is mended it belongs into tests/fuzz/corpus. Exits with 1 where something was found.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

seconds=600 runs='' targets=()
while (($# > 0)); do
  case $1 in
    --seconds) seconds=${2:?} ;;
    --runs) runs=${2:?} ;;
    --target) targets+=("${2:?}") ;;
    *) die 2 "unknown argument $1; see the top of this file" ;;
  esac
  shift 2
done
command -v clang++ >/dev/null || die 2 "clang++ is not installed; run: scripts/install-packages.sh --dev"

cmake --preset fuzz >/dev/null
mapfile -t all <build/fuzz/fuzz-targets
((${#targets[@]})) || targets=("${all[@]}")
for target in "${targets[@]}"; do
  [[ " ${all[*]} " == *" $target "* ]] || die 2 "there is no target '$target'; there are: ${all[*]}"
done
step "Building ${targets[*]}"
cmake --build --preset fuzz --parallel "$(parallelism)" --target "${targets[@]/#/tarcil_fuzz_}"

same_addresses=()
setarch --addr-no-randomize true 2>/dev/null && same_addresses=(setarch --addr-no-randomize)
program() { echo "build/fuzz/tests/tarcil_fuzz_$1"; }
log() { echo "build/fuzz/log/$1"; }

# fuzz TARGET: runs it; what it says goes to its log.
fuzz() {
  local target=$1 folder=build/fuzz/corpus/$1 kept=tests/fuzz/corpus/$1 bound
  mkdir -p "$folder" "build/fuzz/found/$target"
  if [[ -n $runs ]]; then
    # From nothing but what is in the tree, so that it is the same each time.
    folder=build/fuzz/seeds/$target
    rm -rf "$folder"
    mkdir -p "$folder"
    bound=(-runs="$runs" -seed=1 -reload=0)
  else
    bound=(-max_total_time="$seconds")
  fi
  "$(program "$target")" --write-seeds="$folder"
  [[ -d $kept ]] || kept=
  # A single input may take 10 s and 1 GiB; what it is told to make at once, 128 MiB.
  ${runs:+"${same_addresses[@]}"} "$(program "$target")" "${bound[@]}" -max_len=16384 -timeout=10 -rss_limit_mb=1024 -malloc_limit_mb=128 \
    -print_final_stats=1 -artifact_prefix="build/fuzz/found/$target/" "$folder" ${kept:+"$kept"} >"$(log "$target")" 2>&1
}

# said TARGET PATTERN: the last number behind the pattern in its log.
said() { grep -oE "$2 *[0-9]+" "$(log "$1")" | grep -oE '[0-9]+$' | tail -1; }

mkdir -p build/fuzz/log
declare -A target_of
found=()
# Waits for one that runs, and notes how it ended.
reap() {
  local pid status=0 target
  wait -n -p pid || status=$?
  target=${target_of[$pid]}
  ((status == 0)) || found+=("$target")
  printf -- '-- %s: %s\n' "$target" "$( ((status == 0)) && echo "nothing found" || echo "FOUND SOMETHING")"
}
running=0
for target in "${targets[@]}"; do
  if ((running == 2)); then
    reap
    running=$((running - 1))
  fi
  step "$target: ${runs:-$seconds s}${runs:+ runs}"
  fuzz "$target" &
  target_of[$!]=$target
  running=$((running + 1))
done
for (( ; running > 0; --running)); do reap; done

step "Done"
printf '%-16s %12s %8s %9s\n' target executions edges features
for target in "${targets[@]}"; do
  printf '%-16s %12s %8s %9s%s\n' "$target" "$(said "$target" 'number_of_executed_units:')" "$(said "$target" 'cov:')" \
    "$(said "$target" 'ft:')" "$([[ " ${found[*]} " == *" $target "* ]] && echo "  FOUND SOMETHING")"
done
((${#found[@]} == 0)) && exit
for target in "${found[@]}"; do
  printf '\n%s: the end of %s\n' "$target" "$(log "$target")"
  tail -n 25 "$(log "$target")"
  printf 'again: %s FILE, with the newest of build/fuzz/found/%s\n' "$(program "$target")" "$target"
done
exit 1
