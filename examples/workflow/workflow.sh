#!/usr/bin/env bash
# Forty jobs over the list in inputs.txt: one prepares, 36 count the primes of a range each, two add up what half of them
# found, one reports. One of the 36 fails; it is mended and run again, what waited for it goes on, and the report comes back.
#
#   examples/workflow/workflow.sh [FOLDER]
#
# FOLDER is on a disk that the servers see, and their tasks may write into it; not below /tmp, which is each task's own.
# Default: a new one below /var/tmp.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=${1:-$(mktemp -d /var/tmp/workflow.XXXXXX)}
case $(realpath -m "$folder") in
  /tmp | /tmp/*)
    echo "$folder: is below /tmp, which is each task's own; write a folder on a disk that the servers share" >&2
    exit 2
    ;;
esac
mkdir -p "$folder"
chmod 777 "$folder"

# submit_file FILE [OPTION...]: the job's number.
submit_file() {
  local file=$1
  shift
  tarcil submit --json --set folder="$folder" "$@" "$here/$file" | grep -o '"number": *[0-9]*' | grep -o '[0-9]*'
}
# submit NAME SCRIPT [OPTION...]: the same.
submit() {
  local name=$1 script=$2
  shift 2
  submit_file step.yaml --set name="$name" --set script="$script" "$@"
}

prepare=$(submit prepare 'rm -f primes-* sum-*')

parts=() counts=()
while read -r first last; do
  # The range that begins at 5001 lacks something at first.
  needs=true
  ((first == 5001)) && needs='test -e mended'
  parts+=("$(submit "primes-$first" "$needs; seq $first $last | factor | awk 'NF == 2 {n++} END {print n+0}' > primes-$first" \
    --after "$prepare")")
  counts+=("primes-$first")
done <"$here/inputs.txt"

half=$((${#parts[@]} / 2))
together() { local IFS=,; echo "$*"; }
add="awk '{n += \$1} END {print n}'"
left=$(submit sum-left "$add ${counts[*]:0:half} > sum-left" --after "$(together "${parts[@]:0:half}")")
right=$(submit sum-right "$add ${counts[*]:half} > sum-right" --after "$(together "${parts[@]:half}")")
report=$(submit_file report.yaml --after "$left,$right")
echo "jobs $prepare to $report, in $folder"

tarcil job wait "$prepare"
failed=${parts[5]}
tarcil job wait "$failed" || echo "primes-5001 has failed"
tarcil job status "$report" | grep 'Waits for'
touch "$folder/mended"
tarcil job rerun "$failed"
tarcil job wait "$report"
tarcil job fetch "$report" --to "$folder/results"
cat "$folder/results/report"
