#!/usr/bin/env bash
# Installs what is missing, builds preset `release` and runs every test. The last line says "N passed, N failed,
# N skipped". Exits 0 only if tests ran and none failed.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
(($# == 0)) || die 2 "takes no arguments; one test: ctest --preset release -R NAME"

step "Packages"
scripts/install-packages.sh

jobs=$(parallelism)
step "Configuring build/release"
cmake --preset release
step "Building with $jobs jobs"
cmake --build --preset release --parallel "$jobs"

# Tests of processes spend half of their time waiting.
at_once=$((2 * jobs))
step "Testing with $at_once jobs"
report=build/release/tests.junit.xml
rm -f "$report"
status=0
ctest --preset release --parallel "$at_once" --output-junit "$PWD/$report" || status=$?

# By the report: a test that had itself skipped says so there; one that could not even be run counts as failed.
count() { grep -cE "$1" "$report" 2>/dev/null || true; }
tests=$(count '^\s*<testcase ')
passed=$(count '^\s*<testcase .* status="run"')
skipped=$(count '^\s*<testcase .* status="disabled"|^\s*<skipped message="SKIP_')
failed=$((tests - passed - skipped))

if ((passed + failed == 0)); then
  echo "test.sh: no test ran" >&2
  status=1
fi
((failed == 0)) || status=1
echo
echo "$passed passed, $failed failed, $skipped skipped"
exit "$status"
