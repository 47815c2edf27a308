#!/usr/bin/env python3
"""Checks integrations/: the alerts, their tests and the example of a configuration by promtool; that every alert says how bad
it is, what to do and where that is told, and has a test; that the dashboard's panels have queries that Prometheus reads and
places of their own; that every metric which a query names is in docs/metrics.md (tests/processes/metrics_test.cc shows that a
cluster serves those). Takes a second.

    scripts/check-integrations.py [--strict]    without promtool its part is left out, and said so; with --strict that fails
"""

import importlib.util
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROMETHEUS = ROOT / "integrations/prometheus"
RULES, TESTS = PROMETHEUS / "tarcil.rules.yml", PROMETHEUS / "tests.yml"
DASHBOARD = ROOT / "integrations/grafana/tarcil.json"
ANNOTATIONS = ["summary", "description", "runbook_url"]
# What Grafana puts in before it asks.
VARIABLES = {"$__rate_interval": "5m", "$cluster": ".*"}
METRIC = re.compile(r"\btarcil_[a-z0-9_]+")

spec = importlib.util.spec_from_file_location("check_docs", ROOT / "scripts/check-docs.py")
check_docs = importlib.util.module_from_spec(spec)
spec.loader.exec_module(check_docs)


def promtool(*arguments):
    """Its complaints; nothing where it has none."""
    done = subprocess.run(["promtool", *arguments], capture_output=True, text=True, check=False)
    return [] if done.returncode == 0 else [f"promtool {' '.join(arguments[:2])}: {(done.stdout + done.stderr).strip()}"]


def metrics_named(text):
    """Without the endings of a histogram's series."""
    return {re.sub(r"_(bucket|sum|count)$", "", name) for name in METRIC.findall(text)}


def undescribed(where, text):
    described = set(re.findall(r"^\| `(tarcil_[a-z0-9_]+)`", (ROOT / "docs/metrics.md").read_text(), re.MULTILINE))
    return [f"{where}: {name}: docs/metrics.md describes no such metric" for name in sorted(metrics_named(text) - described)]


def alerts():
    """(name, its text) of each alert; the file is written by hand in one form, which promtool reads besides."""
    parts = re.split(r"^ +- alert: (\S+)\n", RULES.read_text(), flags=re.MULTILINE)
    return list(zip(parts[1::2], parts[2::2]))


def problems_of_alert(name, text):
    fields = dict(re.findall(r"^ {8,}(\w+): +(.*)$", text, re.MULTILINE))
    problems = [f"{name}: it has no {field}" for field in ANNOTATIONS if not fields.get(field)]
    if not re.search(r"severity: (critical|warning|info)\b", text):
        problems.append(f"{name}: its severity is critical, warning or info")
    document, _, anchor = fields.get("runbook_url", "").partition("#")
    if not (ROOT / document).is_file() or anchor not in check_docs.anchors_of((ROOT / document).read_text()):
        problems.append(f"{name}: its runbook_url leads nowhere: {document}#{anchor}")
    # Where it is named as one that fires, it is tested; that the others do not fire is what the cases say.
    if not re.search(rf'alertname="{name}"|alertname: {name}\b', TESTS.read_text()):
        problems.append(f"{name}: no case of {TESTS.name} makes it fire")
    return problems


def queries_of(dashboard):
    """(title of the panel, query) of each query, as Prometheus gets it."""
    for panel in dashboard["panels"]:
        for target in panel.get("targets", []):
            query = target["expr"]
            for variable, value in VARIABLES.items():
                query = query.replace(variable, value)
            yield panel["title"], query


def problems_of_dashboard(dashboard):
    problems, taken, ids = [], {}, set()
    for panel in dashboard["panels"]:
        title, place = panel["title"], panel["gridPos"]
        if panel["id"] in ids:
            problems.append(f"panel {title}: another one has the id {panel['id']}")
        ids.add(panel["id"])
        if panel["type"] != "row" and not panel.get("targets"):
            problems.append(f"panel {title}: it asks for nothing")
        for cell in [(x, y) for x in range(place["x"], place["x"] + place["w"]) for y in range(place["y"], place["y"] + place["h"])]:
            if cell[0] >= 24 or taken.setdefault(cell, title) != title:
                problems.append(f"panel {title}: it lies over {taken.get(cell, 'the edge')}")
                break
    problems += [f"panel {title}: what does {query} ask for besides $cluster and $__rate_interval?"
                 for title, query in queries_of(dashboard) if "$" in query]
    return problems


def problems_of_queries(dashboard):
    """Each as a recording rule, which promtool reads."""
    with tempfile.TemporaryDirectory() as folder:
        rules = [{"record": f"query:{i}", "expr": query} for i, (_, query) in enumerate(queries_of(dashboard))]
        file = Path(folder) / "queries.yml"
        file.write_text(json.dumps({"groups": [{"name": "queries", "rules": rules}]}))  # which is YAML, too
        return promtool("check", "rules", "--lint=none", str(file))


def main(arguments):
    if arguments not in ([], ["--strict"]):
        sys.exit("check-integrations.py: there is only --strict")
    dashboard = json.loads(DASHBOARD.read_text())
    problems = problems_of_dashboard(dashboard)
    problems += undescribed(RULES.name, RULES.read_text())
    problems += undescribed(DASHBOARD.name, "\n".join(query for _, query in queries_of(dashboard)))
    problems += [problem for name, text in alerts() for problem in problems_of_alert(name, text)]
    if not alerts():
        problems.append(f"{RULES.name}: no alert is found in it")
    if shutil.which("promtool"):
        problems += promtool("check", "rules", str(RULES)) + promtool("test", "rules", str(TESTS))
        problems += promtool("check", "config", str(PROMETHEUS / "scrape.example.yml"))
        problems += problems_of_queries(dashboard)
    else:
        print("check-integrations.py: promtool is not installed: rules, their tests and queries are not read; "
              "scripts/install-packages.sh --dev installs it", file=sys.stderr)
        if arguments == ["--strict"]:
            problems.append("promtool is needed")
    print("\n".join(problems) or f"{len(alerts())} alerts and {len(dashboard['panels'])} panels are sound")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
