#!/usr/bin/env python3
"""Sparrow, Figure 13, with real RPC in real time: two users of equal shares on 100 emulated servers of 4 units, five
agents. The one asks for the whole cluster all the time, the other for 0, 25, 50, 25 and 0 % of it, ten seconds each.
  bench/figures/sparrow_13_rpc.py [FOLDER]"""

from figure import Figure

SLOTS = 400
PART = 10  # seconds
STEP = 0.1
DEMAND = [0, 0.25, 0.5, 0.25, 0]


def main():
    figure = Figure("sparrow-13-rpc", "1")
    streams = [f"0:50:1:0:{PART * len(DEMAND)}"]
    streams += [f"1:50:{load}:{PART * i}:{PART * (i + 1)}" for i, load in enumerate(DEMAND) if load]
    cluster = "--servers 100 --slots 4 --monitors 4 --agents 5 --task-ms 100 --even".split()
    # A second more: what ran until the end has ended then.
    users = figure.measure({"users": [*cluster, "--seconds", str(PART * len(DEMAND) + 1),
                                      *(word for stream in streams for word in ("--stream", stream))]})["users"]["users"]
    running = [user["running"][:round(PART * len(DEMAND) / STEP)] for user in users]
    rows = [[round(i * STEP, 1), one, other] for i, (one, other) in enumerate(zip(*running))]
    figure.table(["s", "user 0", "user 1"], rows)
    figure.plot("""
set xlabel 's'
set ylabel 'running tasks'
set yrange [0:420]
set key right center
plot 'DATA.csv' using 1:2 with lines lw 2 title 'user 0', 'DATA.csv' using 1:3 with lines lw 2 title 'user 1'
""")
    shares, worst = [], 0
    for i, load in enumerate(DEMAND):
        # From a second after each change on; each second by itself.
        seconds = [rows[round(s / STEP):round((s + 1) / STEP)] for s in range(PART * i + 1, PART * (i + 1))]
        of_user_1 = [sum(row[2] for row in second) / len(second) for second in seconds]
        of_user_0 = [sum(row[1] for row in second) / len(second) for second in seconds]
        shares.append(sum(of_user_1) / len(of_user_1))
        worst = max([worst, *(abs(held - load * SLOTS) / SLOTS for held in of_user_1),
                     *(abs(held - (1 - load) * SLOTS) / SLOTS for held in of_user_0)])
    figure.says("user 1 holds 0, 100, 200, 100, 0 of 400 slots, with small fluctuations",
                ", ".join(f"{share:.0f}" for share in shares) + " on average from a second after each change on; in no second "
                f"is either user further than {100 * worst:.1f} % of the cluster from the max-min share")


if __name__ == "__main__":
    main()
