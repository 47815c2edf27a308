#!/bin/sh
# Runs server and client side by side in this directory, and ends as the client ends.
set -eu
perl server.pl service.sock &
server=$!
trap 'kill $server 2>/dev/null || true' EXIT
perl client.pl service.sock "${SECONDS_TO_SERVE:-3}"
