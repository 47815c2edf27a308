#!/usr/bin/env python3
"""Does more choice hurt? A fixed number of free slots drawn for each task, from eight to all there are, ranked by Q as in
the paper and by what they are worth; beside them what is drawn until enough are found, with several floors below which
no neighbour may fall. CORUN as in comparison.py.
  bench/figures/more_choice.py [FOLDER]"""

from comparison import co_runs
from figure import Figure, large_scale, mean

EVERY = 100_000  # more than there are
DRAWS = {"until enough": {}, **{str(ratio): {"ratio": ratio} for ratio in (8, 32, 128, 1000)}, "all": {"ratio": EVERY}}
# The same by each number drawn, and what is only drawn until enough are found.
RANKINGS = {"Q": {"ranking": "quality"}, "worth": {}}
OTHERS = {"worth, neighbour by neighbour": {"contention": "slowdowns"},
          **{f"worth, floor {floor}": {"neighbour_floor": floor} for floor in (0.01, 0.2, 0.3, 0.5, 0.8)}}
ALIKE = {"kind": "alike", "jobs": 3000, "tasks": 1, "mean": "60s"}


def clusters():
    kinds = {f"6.3, load {load}": large_scale(load) for load in (0.5, 0.7, 0.9)}
    for load in (0.3, 0.4, 0.45):
        kinds |= co_runs(load, ALIKE, above_one="as-one")
    return kinds


def main():
    figure = Figure("more-choice", "1..6")
    points = {(cluster, ranking, draws): {**scenario, "quality": {**ranks, **drawn}, "policies": ["quality"]}
              for cluster, scenario in clusters().items()
              for ranking, ranks in (RANKINGS | OTHERS).items() for draws, drawn in DRAWS.items()
              if ranking in RANKINGS or not drawn}
    runs = figure.simulate(points)
    header = ["ranked by", "drawn", "mean %", "worst 5 % below", "worst 1 % below"]
    for number, cluster in enumerate(clusters(), 1):
        print(f"\n{cluster}, seeds {figure.seeds}:")
        rows = [[ranking, draws, *(100 * mean(own["quality"], "performance", part) for part in ("mean", "p5", "p1"))]
                for (of, ranking, draws), own in runs.items() if of == cluster]
        figure.table(header, rows, f"more-choice-{number}")


if __name__ == "__main__":
    main()
