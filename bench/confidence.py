#!/usr/bin/env python3
"""Question: what does more confidence cost on a running cluster? Emulated servers of which one free slot in 16 is acceptable to the
jobs that come, and such of which every other is: slots drawn in the mean, by confidence.
  bench/confidence.py [PLANS]

Starts and ends a cluster of its own (`tarcil up --emulate`), as root. Needs build/release, or TARCIL with the program's path."""

import json
import os
import subprocess
import sys
import tempfile

TARCIL = os.environ.get("TARCIL", "build/release/tarcil")
SERVERS = 960
LOUD = "profile: {caused: {llc: 90}, tolerated: {llc: 99}}"
QUIET = "profile: {caused: {llc: 0}, tolerated: {llc: 99}}"
SENSITIVE = "profile: {caused: {llc: 0}, tolerated: {llc: 10}}"


def tarcil(folder, *words):
    done = subprocess.run([os.path.abspath(TARCIL), *words], cwd=folder, capture_output=True, text=True,
                          env={**os.environ, "TARCIL_DATA": os.path.join(folder, "data")})
    if done.returncode != 0:
        sys.exit(f"tarcil {' '.join(words)}: {done.stderr}")
    return done.stdout


def write(folder, name, *lines):
    with open(os.path.join(folder, name), "w") as file:
        file.write("\n".join(lines) + "\n")
    return name


def resident(folder, name, profile, servers, attribute):
    """A task that stays on each of the servers with the attribute."""
    job = write(folder, f"{name}.yaml", "command: [stay]", f"tasks: {servers}", 'env: {TARCIL_EMULATE_SECONDS: "86400"}',
                profile, f"placement: {{spread: server, constraints: [kind={attribute}]}}",
                "quality: {protect_neighbours: false}")
    tarcil(folder, "submit", job)


def drawn(folder, plans):
    """Slots drawn for a job of one task, in the mean over so many plans: decisions that are not carried out."""
    made = [json.loads(tarcil(folder, "plan", "probe.yaml", "--json")) for _ in range(plans)]
    return sum(plan["decision"][0]["drawn"] for plan in made) / plans


def measure(one_in, plans):
    quiet = SERVERS // one_in
    with tempfile.TemporaryDirectory(prefix="tarcil-confidence-") as folder:
        write(folder, "servers.yaml", "servers:",
              f'  - {{name: "q-{{n}}", count: {quiet}, rus: 2, attributes: {{kind: quiet}}}}',
              f'  - {{name: "l-{{n}}", count: {SERVERS - quiet}, rus: 2, attributes: {{kind: loud}}}}')
        write(folder, "probe.yaml", "command: [probe]", 'env: {TARCIL_EMULATE_SECONDS: "0"}', SENSITIVE)
        tarcil(folder, "up", "--detach", "--emulate", "servers.yaml")
        try:
            resident(folder, "loud", LOUD, SERVERS - quiet, "loud")
            resident(folder, "quiet", QUIET, quiet, "quiet")
            row = []
            for confidence in ("0.5", "0.9", "0.999", "0.999999"):
                settings = json.loads(tarcil(folder, "tune", "--confidence", confidence, "--margin", "0", "--json"))
                row.append(f"{drawn(folder, plans):.1f} (at most {settings['draws']})")
            print(f"one free slot in {one_in} acceptable: " + ", ".join(row), flush=True)
        finally:
            tarcil(folder, "down")


def main():
    plans = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    print(f"{SERVERS} emulated servers with one free unit each, {plans} plans for a job of one task; drawn in the mean at confidence 0.5, 0.9, "
          "0.999, 0.999999")
    for one_in in (16, 2):
        measure(one_in, plans)


if __name__ == "__main__":
    main()
