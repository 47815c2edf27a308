#!/usr/bin/env bash
# Every policy on the held-out test set: scenarios, truths and seeds that nothing is tuned on. It is run once for a
# release, when the policy is settled: what it shows goes into docs/evaluation.md as it is, and no setting follows from
# it. Who changes the policy after a look at it has to make a new test set.
#   CORUN="PAIRS.csv TRIPLES.csv" TRACES="openb:PODS.csv" bench/figures/held_out.sh [FOLDER]      default: build/held-out
source "$(dirname "${BASH_SOURCE[0]}")/../../scripts/common.sh"
(($# <= 1)) || die 2 "takes the folder for data; co-runs are named by CORUN, traces by TRACES"
folder=${1:-build/held-out}
[[ ! -e $folder/held-out.json ]] ||
  die 2 "$folder has results of the test set; read those, or name another folder for another release"
[[ -z $(git status --porcelain --untracked-files=no) ]] ||
  die 2 "what is tested has no version: files have changed since the last commit; commit them and build"
export LIMIT=${LIMIT-60}
printf 'held-out test set, once a release: version %s\n' "$(git describe --always)"
exec python3 bench/figures/held_out.py "$folder"
