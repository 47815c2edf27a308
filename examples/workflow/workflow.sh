#!/usr/bin/env bash
# Forty jobs over the list in inputs.txt: one prepares, 36 count the primes of a range each, two add up what half of them
# found, one reports. One of the 36 fails; it is mended and run again, and what waited for it goes on.
#
#   examples/workflow/workflow.sh [FOLDER]
#
# FOLDER is on a disk that the servers see, and their tasks may write into it; default: a new one below /var/tmp.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=${1:-$(mktemp -d /var/tmp/workflow.XXXXXX)}
mkdir -p "$folder"
chmod 777 "$folder"

# submit NAME SCRIPT [OPTION...]: the job's number.
submit() {
  local name=$1 script=$2
  shift 2
  tarcil submit --json --set name="$name" --set folder="$folder" --set script="$script" "$@" "$here/job.yaml" |
    grep -o '"number": *[0-9]*' | grep -o '[0-9]*'
}

prepare=$(submit prepare 'rm -f primes-* sum-* report')

parts=()
while read -r first last; do
  # The range that begins at 5001 lacks something at first.
  needs=true
  ((first == 5001)) && needs='test -e mended'
  parts+=("$(submit "primes-$first" "$needs; seq $first $last | factor | awk 'NF == 2 {n++} END {print n+0}' > primes-$first" \
    --after "$prepare")")
done <"$here/inputs.txt"

half=$((${#parts[@]} / 2))
together() { local IFS=,; echo "$*"; }
left=$(submit sum-left "cat primes-* | wc -l > sum-left" --after "$(together "${parts[@]:0:half}")")
right=$(submit sum-right "cat primes-* | wc -l > sum-right" --after "$(together "${parts[@]:half}")")
report=$(submit report "awk '{n += \$1} END {print n, \"primes\"}' primes-* > report; cat report" --after "$left,$right")
echo "jobs $prepare to $report, in $folder"

failed=${parts[5]}
tarcil job wait "$failed" || echo "primes-5001 has failed"
tarcil job status "$report" | grep 'Waits for'
touch "$folder/mended"
tarcil job rerun "$failed"
tarcil job wait "$report"
tarcil job logs "$report"
