#!/usr/bin/env bash
# Has libFuzzer look for messages that a decoder does not bear (tests/hostile), with address and undefined-behaviour
# sanitizers. Needs clang with libclang-rt.
#   scripts/fuzz.sh [--seconds N]     default: 60
# What it has found before is kept in build/fuzz/corpus. A message that breaks something is left in build/fuzz.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

seconds=60
while (($# > 0)); do
  case $1 in
    --seconds) seconds=${2:?} ;;
    *) die 2 "unknown argument $1; see the top of this file" ;;
  esac
  shift 2
done
command -v clang++ >/dev/null || die 2 "clang++ is not installed; run: scripts/install-packages.sh --dev"

cmake -S . -B build/fuzz -G Ninja -DCMAKE_CXX_COMPILER=clang++ -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG="-O1 -g1" \
  -DCMAKE_CXX_FLAGS="-fsanitize=fuzzer-no-link" -DTARCIL_SANITIZE=address,undefined -DTARCIL_FUZZ=ON >/dev/null
cmake --build build/fuzz --parallel "$(parallelism)" --target tarcil_message_fuzzer tarcil_seed_corpus
mkdir -p build/fuzz/corpus
build/fuzz/tests/tarcil_seed_corpus build/fuzz/corpus
cd build/fuzz
exec tests/tarcil_message_fuzzer -max_total_time="$seconds" -max_len=8192 -rss_limit_mb=2048 -print_final_stats=1 corpus
