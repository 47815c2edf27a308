#!/usr/bin/env bash
# Everything that can be checked, however long it takes: the gate, and what does not fit in its hour. Run it before an issue
# is called done.
#   scripts/full-check.sh
source "$(dirname "${BASH_SOURCE[0]}")/steps.sh"
(($# == 0)) || die 2 "takes no arguments; each step can also be run alone, see below"

run "gate" .ci/run
run "clang-tidy of tests and benchmarks" scripts/check-clang.py
run "benchmarks" ctest --preset bench
run "all tests within a process, address and undefined-behaviour sanitizers" sanitized asan in_process
run "tests that start processes, address and undefined-behaviour sanitizers" sanitized asan processes
run "fault simulation, more histories" build/release/tarcil sim --faults --seeds 301..1000
run "campaign of faults" scripts/campaign.sh
run "the page in a browser" scripts/check-page.sh --strict --browser
run "torture of masters, ten minutes more" scripts/torture.sh --seconds 600 --seed 1001
run "each source compiles alone; guards: each is noticed when it is missing" scripts/check-guards.sh
run "guards: the fault simulation notices" scripts/check-fault-simulation.sh
run "inputs that nobody should send, ten minutes each" scripts/fuzz.sh --seconds 600
conclude
