#!/usr/bin/env python3
"""Holds answers of a gateway against the schemas of its description.

    check_answers.py FILE     {"components": ..., "checks": [{"what", "schema", "answer"}, ...]}

Says each that does not fit, and fails then.
"""

import json
import sys

import jsonschema


def main(path):
    with open(path, encoding="utf-8") as file:
        given = json.load(file)
    problems = 0
    for check in given["checks"]:
        schema = {"components": given["components"], **check["schema"]}
        for error in jsonschema.Draft202012Validator(schema).iter_errors(check["answer"]):
            problems += 1
            print(f"{check['what']}: {'/'.join(map(str, error.absolute_path))}: {error.message[:300]}")
    print(f"{len(given['checks'])} answers, {problems} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
