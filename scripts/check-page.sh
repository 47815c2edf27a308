#!/usr/bin/env bash
# Proves that page/dist is what the sources of the page give: installs what the lock file says, checks types, runs the tests of the
# pure functions, builds elsewhere and compares. With --browser also the tests in a real browser (tests/page).
# Where npm is missing or the registry cannot be reached it says so and ends well; with --strict it fails.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

strict=0 browser=0
for argument; do
  case "$argument" in
    --strict) strict=1 ;;
    --browser) browser=1 ;;
    *) die 2 "unknown argument '$argument': there are --strict and --browser" ;;
  esac
done

# unchecked REASON: ends the script, well unless it is to be strict.
unchecked() {
  echo "check-page.sh: the page is not checked: $1" >&2
  exit "$strict"
}

command -v npm >/dev/null || unchecked "npm is not installed; scripts/install-packages.sh --dev installs it"
built=$(mktemp -d)
trap 'rm -rf "$built"' EXIT

# What is there already and fits the lock file is not fetched again.
if ! cmp -s page/package-lock.json page/node_modules/.of-lock; then
  (cd page && timeout 900 npm ci --no-audit --no-fund >"$built/npm.log" 2>&1) || {
    tail -n 5 "$built/npm.log" >&2
    grep -qE 'ENOTFOUND|EAI_AGAIN|ETIMEDOUT|ECONNREFUSED|ECONNRESET|ENETUNREACH|network' "$built/npm.log" && unchecked "the npm registry cannot be reached"
    die 1 "npm ci failed: does page/package-lock.json fit page/package.json?"
  }
  cp page/package-lock.json page/node_modules/.of-lock
fi

(cd page && npm run --silent types && npm run --silent test && node build.mjs "$built/dist")
diff -r page/dist "$built/dist" || die 1 "page/dist is not what the sources give: run 'npm run build' in page/ and commit what it makes"
echo "page/dist is what the sources give"

if ((browser)); then
  node --test tests/page/page_test.mjs
fi
