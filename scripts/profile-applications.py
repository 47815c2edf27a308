#!/usr/bin/env python3
"""Profiles real programs of Debian packages on this machine, and writes what was measured of them as the applications
that `tarcil profile run` infers others from.

    scripts/profile-applications.py [--build FOLDER] [--seconds N] [--output FILE] [--only NAME,NAME...] [--list]

Needs what `cmake --build --preset bench` builds. What computes is measured by its processor time, so that other
programs on the machine hardly matter. What programs that use the disk bear of pressure on it is measured by time: on
a machine that is not quiet it is tried three times, and then left out. Servers are measured together with what asks
them. The kernels that press are applications, too (kernel-llc ...): each at 99, by the work that it does in the time
for which it has a core.
With --only, the other applications of the output file stay as they are. Everything is made in a scratch folder below the
build folder and removed. Programs that are not installed are passed over.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KEYS = ("caused", "tolerated")
NOT_QUIET = ("other programs used",)

REDIS = """
    redis-server --port 0 --unixsocket redis.sock --save "" --appendonly no > log & server=$!
    until redis-cli -s redis.sock ping > answer 2>&1; do :; done
    redis-benchmark -s redis.sock -n 20000 -q -t set,get > answer
    kill $server; wait $server"""
MEMCACHED = """
    memcached -u root -s memcached.sock -t 1 & server=$!
    perl -MIO::Socket::UNIX -e '
        my $s; until ($s = IO::Socket::UNIX->new(Peer => "memcached.sock")) {}
        my $v = "x" x 1000;
        for my $i (1 .. 15000) {
            print $s "set k$i 0 0 1000\\r\\n$v\\r\\nget k$i\\r\\n"; $s->flush;
            defined <$s> or die for 1 .. 4 }'
    kill $server; wait $server; test $? -eq 0 -o $? -eq 143"""

# name -> (program that must be there, command). Each runs for some tenths of a second and can be run again and again.
APPLICATIONS = {
    "gzip": ("gzip", ["gzip", "-k1c", "text"]),
    "bzip2": ("bzip2", ["bzip2", "-k1c", "text-small"]),
    "xz": ("xz", ["xz", "-T1", "-k0c", "text-small"]),
    "zstd": ("zstd", ["zstd", "-q", "-c", "-3", "text"]),
    "lz4": ("lz4", ["lz4", "-q", "-c", "text-large"]),
    "sort": ("sort", ["sort", "--parallel=1", "-S", "200M", "-o", "sorted", "text"]),
    "sort-disk": ("sort", ["sort", "--parallel=1", "-S", "2M", "-T", ".", "-o", "sorted", "text"]),
    "grep": ("grep", ["grep", "-c", "-E", "([a-f][0-9]){3}", "text-large"]),
    "awk": ("awk", ["awk", "{ n[substr($0, 1, 3)]++ } END { for (k in n) s++; print s }", "text"]),
    "openssl-sha256": ("openssl", ["openssl", "dgst", "-sha256", "text-huge"]),
    "openssl-aes": ("openssl", ["openssl", "enc", "-aes-256-ctr", "-pbkdf2", "-k", "key", "-in", "text-huge", "-out",
                                "/dev/null"]),
    "sqlite-scan": ("sqlite3", ["sqlite3", "table.db", "select sum(length(v)), count(distinct substr(v, 1, 4)) from t"]),
    "sqlite-insert": ("sqlite3", ["sqlite3", "scratch.db",
                                  "create table if not exists t(v); " + "insert into t values(randomblob(500));" * 30
                                  + "delete from t;"]),
    "perl-hash": ("perl", ["perl", "-e", "my %h; for my $i (1 .. 400000) { $h{$i * 2654435761 % 4294967296} = $i }"]),
    "perl-stream": ("perl", ["perl", "-e", "my $a = 'x' x 100_000_000; my $b; for (1 .. 6) { $b = $a . 'y' }"]),
    "perl-loopback": ("perl", ["perl", "-MIO::Socket::INET", "-e", """
        my $l = IO::Socket::INET->new(Listen => 1, LocalAddr => '127.0.0.1') or die;
        if (!fork) { my $s = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $l->sockport) or die;
                     my $d = 'x' x 65536; syswrite $s, $d for 1 .. 8000; exit }
        my $c = $l->accept; my ($d, $n); while (sysread $c, $d, 65536) { $n += length $d } print "$n\\n";"""]),
    "dd-write": ("dd", ["dd", "if=/dev/zero", "of=written", "bs=1M", "count=200", "oflag=direct", "status=none"]),
    "dd-read": ("dd", ["dd", "if=blocks", "of=/dev/null", "bs=64k", "iflag=direct", "status=none"]),
    "g++": ("g++", ["g++", "-std=c++20", "-O1", "-c", "-o", "unit.o", "unit.cc"]),
    "redis": ("redis-benchmark", ["sh", "-c", REDIS]),
    "memcached": ("memcached", ["sh", "-c", MEMCACHED]),
    "ffmpeg-encode": ("ffmpeg", ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc=size=640x360:rate=30:duration=2",
                                 "-c:v", "mpeg4", "-threads", "1", "-f", "null", "-"]),
    "ffmpeg-scale": ("ffmpeg", ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc=size=640x360:rate=30:duration=1",
                                "-vf", "scale=1280:720:flags=lanczos", "-threads", "1", "-f", "null", "-"]),
    "stress-ng-fft": ("stress-ng", ["stress-ng", "-q", "--cpu", "1", "--cpu-method", "fft", "--cpu-ops", "1000"]),
    "stress-ng-matrix": ("stress-ng", ["stress-ng", "-q", "--matrix", "1", "--matrix-ops", "1500"]),
    "stress-ng-bsearch": ("stress-ng", ["stress-ng", "-q", "--bsearch", "1", "--bsearch-ops", "60"]),
    "stress-ng-memcpy": ("stress-ng", ["stress-ng", "-q", "--memcpy", "1", "--memcpy-ops", "100"]),
    "stress-ng-vm": ("stress-ng", ["stress-ng", "-q", "--vm", "1", "--vm-bytes", "64M", "--vm-method", "flip", "--vm-ops",
                                   "20000"]),
    "stress-ng-pipe": ("stress-ng", ["stress-ng", "-q", "--pipe", "1", "--pipe-ops", "300000"]),
    "jq": ("jq", ["jq", "map(.a * 2) | add", "numbers.json"]),
}
KERNELS = ("core", "l1i", "l1d", "l2", "llc", "tlb", "memory_bandwidth", "network_bandwidth")
LEAST_SEEN = 10
USE_DISKS = {"sort-disk", "sqlite-insert", "dd-write", "dd-read"}


def make_inputs(folder):
    """The files that the commands read; the same ones every time."""
    words = ["%x" % (i * 2654435761 % 2**32) for i in range(400_000)]
    text = "\n".join(f"{a} {b} {a[:3]}" for a, b in zip(words, reversed(words))) + "\n"
    (folder / "text").write_text(text)
    (folder / "text-small").write_text(text[: len(text) // 4])
    (folder / "text-large").write_text(text * 8)
    (folder / "text-huge").write_text(text * 30)
    (folder / "numbers.json").write_text(json.dumps([{"a": i, "b": word} for i, word in enumerate(words[:100_000])]))
    (folder / "unit.cc").write_text("#include <map>\n#include <string>\n#include <vector>\n"
                                    "std::map<std::string, std::vector<int>> all;\nint f() { return all[\"x\"].at(1); }\n")
    subprocess.run(["dd", "if=/dev/urandom", f"of={folder}/blocks", "bs=1M", "count=200", "status=none"], check=True)
    if shutil.which("sqlite3"):
        rows = "".join(f"insert into t values('{word * 8}');" for word in words[:300_000])
        subprocess.run(["sqlite3", str(folder / "table.db")], input=f"begin; create table t(v); {rows} commit;",
                       text=True, check=True)


def run(arguments, calibration, name, command, folder, *flags):
    """What `tarcil profile run` says, or None."""
    line = [str(arguments.build / "tarcil"), "profile", "run", "--json", "--application", name, "--seconds",
            str(arguments.seconds), "--calibration", str(calibration), *flags, "--", *command]
    result = subprocess.run(line, cwd=folder, stdout=subprocess.PIPE, text=True)
    return json.loads(result.stdout) if result.returncode == 0 else None


def measured(found, kind):
    return {e["resource"]: e["value"] for e in found["entries"] if e["kind"] == kind and e["origin"] == "measured"}


def profile(arguments, calibration, name, command, folder):
    """What was measured of one application, or None."""
    resources = ["llc", "memory_bandwidth", "network_bandwidth"] + ([] if name in USE_DISKS else ["disk_bandwidth"])
    found = run(arguments, calibration, name, command, folder, "--processor-time", "--resources", ",".join(resources))
    if found is None:
        print(f"{name}: cannot be profiled", file=sys.stderr)
        return None
    result = {kind: measured(found, kind) for kind in KEYS}
    for _ in range(3 if name in USE_DISKS else 0):
        found = run(arguments, calibration, name, command, folder, "--resources", "disk_bandwidth")
        if found and not any(w.startswith(NOT_QUIET) for w in found["warnings"]):
            result["tolerated"].update(measured(found, "tolerated"))
            return result
    if name in USE_DISKS:
        print(f"{name}: the machine is not quiet enough to say what it bears of disk bandwidth", file=sys.stderr)
    return result


def profile_kernel(arguments, calibration, resource, folder):
    """The same of the kernel of a resource, or None."""
    press = [str(arguments.build / "bench/press"), resource, "99", "here", str(calibration)]
    others = ["llc", "memory_bandwidth", "network_bandwidth", "disk_bandwidth"]
    found = run(arguments, calibration, f"kernel-{resource}", press, folder, "--metric", "work",
                "--resources", ",".join(others))
    if found is None:
        print(f"kernel-{resource}: cannot be profiled", file=sys.stderr)
        return None
    return {kind: measured(found, kind) for kind in KEYS}


def shows(resource, found, kept):
    """Whether this machine says what is caused of the resource: by its kernel at 99, now or in the file that is kept. A 0 of one
    that it does not show would be taken for a measurement."""
    kernel = f"kernel-{resource}"
    if kernel in found:
        return found[kernel]["caused"].get(resource, 0) >= LEAST_SEEN
    return kernel not in kept or f"{resource}:" in kept[kernel].split("tolerated")[0]


def written(entries):
    """One line of YAML for a mapping of resources."""
    return "{" + ", ".join(f"{resource}: {value}" for resource, value in entries.items()) + "}"


def read(path):
    """The applications of a file that this script wrote, as the lines that it wrote."""
    blocks = re.split(r"(?m)^  - application: ", path.read_text())[1:] if path.is_file() else []
    return {block.split("\n")[0].strip(): block.split("\n", 1)[1].rstrip("\n") for block in blocks}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    parser.add_argument("--seconds", type=int, default=20, help="for each application, or twice that")
    parser.add_argument("--output", type=Path, default=ROOT / "classifier/data/known-applications.yaml")
    parser.add_argument("--only", default="")
    parser.add_argument("--calibration", type=Path, help="made with `tarcil profile calibrate --output`; else made now")
    parser.add_argument("--list", action="store_true", help="print the names and exit")
    arguments = parser.parse_args()
    arguments.build = arguments.build.resolve()
    known = list(APPLICATIONS) + [f"kernel-{resource}" for resource in KERNELS]
    if arguments.list:
        print("\n".join(known))
        return 0
    names = arguments.only.split(",") if arguments.only else known
    if unknown := [name for name in names if name not in known]:
        parser.error(f"no application is called {unknown[0]}; see --list")
    blocks, measured_now = read(arguments.output) if arguments.only else {}, {}
    with tempfile.TemporaryDirectory(dir=arguments.build) as scratch:
        folder = Path(scratch)
        make_inputs(folder)
        calibration = arguments.calibration
        if calibration is None:
            calibration = folder / "calibration.json"
            subprocess.run([str(arguments.build / "tarcil"), "profile", "calibrate", "--output", str(calibration)],
                           cwd=folder, stdout=subprocess.DEVNULL, check=True)
        machine = json.loads(calibration.read_text())
        for name in names:
            if name.startswith("kernel-"):
                found = profile_kernel(arguments, calibration, name.removeprefix("kernel-"), folder)
            elif not shutil.which(APPLICATIONS[name][0]):
                found = None
                print(f"{name}: {APPLICATIONS[name][0]} is not installed", file=sys.stderr)
            else:
                found = profile(arguments, calibration, name, APPLICATIONS[name][1], folder)
            if found:
                measured_now[name] = found
    hidden = [resource for resource in KERNELS if not shows(resource, measured_now, blocks)]
    for name, found in measured_now.items():
        found["caused"] = {resource: value for resource, value in found["caused"].items() if resource not in hidden}
        blocks[name] = "\n".join(f"    {kind}: {written(found[kind])}" for kind in KEYS)
    head = (f"# Made by scripts/profile-applications.py on {machine['cores']} cores of: {machine['processor']}.\n"
            "# What an application does not name was not measured there; what nobody names, the machine does not show: its kernel\n"
            "# at 99 was taken to cause next to nothing.\n")
    body = "".join(f"  - application: {name}\n{block}\n" for name, block in sorted(blocks.items()))
    arguments.output.write_text(head + ("applications:\n" + body if body else "applications: []\n"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
