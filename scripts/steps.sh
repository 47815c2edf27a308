# shellcheck shell=bash
# What the gate (.ci/run) and the full check (scripts/full-check.sh) share: how steps are run, and steps of several
# commands. No step looks at the clock: each sees all that it is for. Source it first.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

jobs=$(parallelism)
failed=()
summary=()

# run TITLE COMMAND...: carries out one step and notes how it ended and how long it took. One that fails does not keep
# the next ones from running.
run() {
  local title=$1 began=$SECONDS verdict=ok line
  shift
  step "$title"
  "$@" || { verdict=FAILED && failed+=("$title"); }
  line=$(printf '%-6s %4d s  %s' "$verdict" $((SECONDS - began)) "$title")
  summary+=("$line")
  printf -- '-- %s\n' "$line"
}

# What each step took, and those that failed; fails if any did.
conclude() {
  step "Done"
  printf '%s\n' "${summary[@]}"
  ((${#failed[@]} == 0)) && return
  printf 'failed: %s\n' "${failed[@]}"
  return 1
}

# The files of the project that match the patterns, NUL-separated; also those not yet committed.
files() {
  git -c safe.directory="$PWD" ls-files -z --cached --others --exclude-standard --deduplicate -- "$@"
}

# build PRESET [ARGUMENT...]: configures and builds a preset; arguments for `cmake --build`.
build() {
  local preset=$1
  shift
  cmake --preset "$preset" >/dev/null && cmake --build --preset "$preset" --parallel "$jobs" "$@"
}

format() {
  files '*.h' '*.cc' | xargs -0 -r -n 25 -P "$jobs" clang-format --dry-run -Werror ||
    { echo "run clang-format -i on these files" >&2; return 1; }
}

shell_scripts() {
  if ! command -v shellcheck >/dev/null; then
    echo "shellcheck is not installed: not checked"
    return 0
  fi
  files 'scripts/*.sh' 'examples/*.sh' 'bench/*.sh' 'bench/figures/*.sh' .ci/run cli/completion.bash | xargs -0 shellcheck
}

# --list fails where a row does not fit the code any more.
guards_fit() { scripts/check-guards.sh --list >/dev/null; }

# sanitized PRESET LABEL [ARGUMENT...]: builds the test programs with the label (cmake/targets.cmake) under a sanitizer and
# runs their tests; arguments for ctest.
sanitized() {
  local preset=$1 label=$2
  shift 2
  build "$preset" --target "tests_$label" && ctest --preset "$preset" --parallel "$jobs" -L "(^|,)$label(,|\$)" "$@"
}
