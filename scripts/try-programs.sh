#!/usr/bin/env bash
# Do programs that people run, run as a task: with its system calls, devices and view of files? Starts a cluster of
# its own and runs what is installed; says what is not. Needs root. Exit code 1: one of them failed.
#
#   scripts/try-programs.sh [BUILD-FOLDER]      default: build/release
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
tarcil="$(realpath "${1:-build/release}")/tarcil"
data=$(mktemp -d /var/tmp/tarcil-try-XXXXXX)
export TARCIL_DATA="$data"
trap '"$tarcil" down >/dev/null; rm -rf "$data"' EXIT
"$tarcil" up --detach --rus 2 --no-page >/dev/null || exit 1

failed=0
# try NAME PROGRAM EXPECTED SHELL-COMMAND: runs the command as a task where PROGRAM, or this file, is installed.
try() {
  local name="$1" program="$2" expected="$3" command="$4" printed
  if ! [ -e "$program" ] && ! command -v "$program" >/dev/null; then
    echo "skipped  $name: no $program here"
    return
  fi
  printed=$("$tarcil" run --timeout 2m -- sh -c "$command" 2>&1)
  if grep -qF "$expected" <<<"$printed"; then
    echo "ran      $name"
  else
    echo "FAILED   $name: '$expected' is not in what it printed:"
    tail -20 <<<"$printed" | while IFS= read -r line; do echo "         $line"; done
    failed=1
  fi
}

try python python3 "4950 2 ok" 'python3 -c "
import multiprocessing, socket, sqlite3, subprocess, threading, tempfile
with multiprocessing.Pool(2) as pool: total = sum(pool.map(int, range(100)))
a, b = socket.socketpair(); a.send(b\"ok\")
db = sqlite3.connect(\"t.db\"); db.execute(\"create table t (x)\"); db.execute(\"insert into t values (2)\"); db.commit()
print(total, db.execute(\"select x from t\").fetchone()[0], b.recv(2).decode())"'
try java java "sum 45" 'printf "public class T { public static void main(String[] a) throws Exception { \
  int s = java.util.stream.IntStream.range(0, 10).parallel().sum(); Thread t = new Thread(() -> {}); t.start(); t.join(); \
  System.out.println(\"sum \" + s); } }" > T.java && java T.java'
try node node "listened 2" 'node -e "
const { Worker } = require(\"worker_threads\"); const net = require(\"net\");
const server = net.createServer((s) => s.end(\"2\")).listen(0, \"127.0.0.1\", () =>
  net.connect(server.address().port, \"127.0.0.1\").on(\"data\", (d) => {
    console.log(\"listened \" + d); server.close(); new Worker(\"1\", { eval: true }); }));"'
try gcc gcc "compiled" 'printf "#include <stdio.h>\nint main(void) { puts(\"compiled\"); }" > t.c && gcc -O2 -o t t.c && ./t'
try gdb gdb "stopped at 42" 'printf "int main(void) {\n  volatile int x = 42;\n  return x - 42;\n}\n" > g.c && gcc -g -o g g.c &&
  SHELL=/bin/sh gdb -batch -ex "break main" -ex run -ex next -ex "printf \"stopped at %d\n\", x" ./g'
# shellcheck disable=SC2016  # the task's shell is to expand it
try "Open MPI, processes" mpirun "rank 1 of 2" 'mpirun --oversubscribe -np 2 sh -c "echo rank \$OMPI_COMM_WORLD_RANK of \$OMPI_COMM_WORLD_SIZE"'
headers="$(mpicc --showme:incdirs 2>/dev/null | tr " " "\n" | sed "s|$|/mpi.h|" | xargs ls 2>/dev/null | head -1)"
try "Open MPI, messages" "${headers:-mpi.h}" "ranks 2" 'printf "#include <mpi.h>\n#include <stdio.h>\nint main(int c, char** v) { int n, one = 1, sum; \
  MPI_Init(&c, &v); MPI_Comm_rank(MPI_COMM_WORLD, &n); MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); \
  if (n == 0) printf(\"ranks %%d\\n\", sum); MPI_Finalize(); }" > m.c && mpicc -o m m.c && mpirun --oversubscribe -np 2 ./m'
for folder in /usr/lib/postgresql/*/bin; do PATH="$PATH:$folder"; done
# shellcheck disable=SC2016  # the task's shell is to expand it
try postgres initdb "answered 42" "export PATH=$PATH; "'mkdir s && initdb -D d -U me >/dev/null &&
  pg_ctl -D d -w -o "-k $PWD/s -h \"\"" -l log start >/dev/null && psql -h "$PWD/s" -U me -Atc "select '"'answered ' || 6 * 7"'" postgres;
  pg_ctl -D d -m fast stop >/dev/null'
exit "$failed"
