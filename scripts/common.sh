# shellcheck shell=bash
# What the scripts of this folder share. Source it first: it stops the script on any error, and moves to the root of
# the source tree, so that a script works from any folder.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# A heading with the seconds since the script began.
step() { printf '\n== [%4d s] %s\n' "$SECONDS" "$*"; }

# die STATUS MESSAGE: the message goes to stderr with the script's name.
die() {
  printf '%s: %s\n' "${0##*/}" "$2" >&2
  exit "$1"
}

# Makes a new folder for what is to be written to a disk. Not below /tmp: where that is memory, nothing would wait.
folder_on_disk() { mktemp -d "/var/tmp/tarcil-$1-XXXXXX"; }

# How many compilers or tests to run at once: one for each core, as long as each has a gigabyte of memory.
parallelism() {
  local cores gigabytes
  cores=$(nproc)
  gigabytes=$(awk '/^MemTotal:/ { print int($2 / 1048576) }' /proc/meminfo)
  ((gigabytes >= 1)) || gigabytes=1
  echo $((cores < gigabytes ? cores : gigabytes))
}

# find_root WHAT_FOR: sets `as_root` to the words that make a command run as root: none for root itself. Never
# asks for a password.
# shellcheck disable=SC2034  # as_root is read by the scripts that source this
find_root() {
  as_root=()
  ((EUID == 0)) && return
  command -v sudo >/dev/null ||
    die 3 "$1 needs root, and there is no sudo here: run this script as root"
  sudo -n true 2>/dev/null ||
    die 3 "$1 needs root, and sudo asks for a password: run 'sudo -v' first, or run this script as root"
  as_root=(sudo -n)
}
