#!/usr/bin/env bash
# A first look: installs what is missing, builds, starts a cluster on this machine, runs the jobs of examples/ on it,
# shows where each task went and why, and what it printed, and stops the cluster; on a terminal, where somebody looks on, it
# leaves the cluster running, with something to look at (examples/tour/), and says where its page is. Exits 0 only if every job succeeded; otherwise the cluster's folder, with
# its logs, is kept and named. As root or with a sudo that asks nothing.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
(($# == 0)) || die 2 "takes no arguments; to go on from here see docs/guide.md"
find_root "running tasks in containers"

data=
cluster=down
stays=false # the cluster goes on when the script ends

# Every call finds the cluster by its folder, as root, who owns the tokens there; none may take more than five minutes.
tarcil() { timeout --foreground 300 "${as_root[@]}" env TARCIL_DATA="$data" "$PWD/build/release/tarcil" "$@"; }

# Whatever ends the script stops the cluster, unless it stays. The folder goes only after success.
finish() {
  local status=$?
  trap - EXIT
  if $stays && ((status == 0)); then exit 0; fi
  if [[ $cluster == up ]]; then
    step "Stopping the cluster"
    tarcil down || status=1
  fi
  if ((status != 0)) && [[ -n $data ]]; then
    printf '\nquickstart.sh: failed; state and logs of the cluster are kept in %s\n' "$data" >&2
  elif [[ -n $data ]]; then
    "${as_root[@]}" rm -rf "$data"
  fi
  exit "$status"
}
trap finish EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# json_string KEY: the value of the first string of that name in the JSON on stdin; nothing if there is none.
json_string() { { grep -o "\"$1\" *: *\"[^\"]*\"" || true; } | head -n 1 | cut -d '"' -f 4; }

step "Packages"
scripts/install-packages.sh

step "Building build/release/tarcil"
cmake --preset release
cmake --build --preset release --parallel "$(parallelism)" --target tarcil tarcil-shim tarcil-image tarcil-limited-disk

step "Starting a cluster: one master, 2 agents, 4 servers of 8 resource units, all on this machine"
data=$(mktemp -d /tmp/tarcil-quickstart.XXXXXX)
chmod 711 "$data" # tasks run as another user and must reach their folders inside; what is secret has modes of its own
cluster=up
tarcil up --detach --data "$data" --servers 4 --rus 8 --agents 2
tarcil server list

step "Submitting the jobs of examples/"
jobs=()
declare -A name_of
for file in examples/*/job.yaml; do
  id=$(tarcil submit --json "$file" | json_string job)
  [[ -n $id ]] || die 1 "submitting $file gave no job id"
  jobs+=("$id")
  name_of[$id]=$(basename "$(dirname "$file")")
  echo "$file is job $id"
done
((${#jobs[@]})) || die 1 "there is no job.yaml in examples/"

for id in "${jobs[@]}"; do
  step "${name_of[$id]}: where each task went, with which quality, and why"
  tarcil job explain "$id"
done

failed=()
for id in "${jobs[@]}"; do
  step "${name_of[$id]}: waiting for its end; then what it printed"
  tarcil job wait "$id" || echo "quickstart.sh: tarcil job wait ended with $?" >&2
  tarcil job logs "$id"
  tarcil job status "$id"
  state=$(tarcil job status "$id" --json | json_string state)
  [[ $state == "done" ]] || failed+=("${name_of[$id]} ($state)")
done

step "${#jobs[@]} jobs, ${#failed[@]} failed"
((${#failed[@]} == 0)) || die 1 "these jobs did not succeed: ${failed[*]}"
if [[ -t 1 ]]; then
  step "Something to look at, for a quarter of an hour (examples/tour/)"
  for file in examples/*/profile.yaml; do tarcil profile import "$file" >/dev/null; done
  for file in examples/tour/*.yaml; do tarcil submit "$file"; done
  stays=true
  step "The cluster goes on. Its page, which signs you in once, within five minutes; open it in a browser of this machine:"
  tarcil page
  command="${as_root[*]:+sudo }build/release/tarcil"
  printf '\nanother address:  %s page --data %s\nstop the cluster: %s down --data %s\n' "$command" "$data" "$command" "$data"
fi
echo "To go on: docs/guide.md, docs/page.md for the page in a browser, and the comments in examples/*/job.yaml."
