#!/usr/bin/env python3
"""The arm that knows the sessions beforehand, by a hull that was published.

Usage: knows.py HULL OUT

Prints `oracle:SESSION=ARM,...` for the run in the directory OUT. In each session it takes the
arm with the lowest median in HULL, bench/results/hull-WORKLOAD.json, of those that one store can
switch between and that kept to the bound on space: what the tables call "best of each session".
A session with an offered rate takes as long under every arm, so that the arm before it stays.

An arm's name is part of what a run goes on by: what OUT began with stands in OUT/oracle.txt, and
is printed again whatever HULL holds by then.
"""

import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "common.d"))

from failure import Failure

CLOSING = "closing"
PREFIX = "oracle:"


def read(path):
    """The results in a file."""
    try:
        return json.loads(Path(path).read_text())
    except (OSError, ValueError) as error:
        raise Failure(f"{path}: {error}; it must be results of `lissom bench`") from None


def best_of(results, path):
    """The fastest arm that a store can switch to, by closed session."""
    try:
        best = results["verdict"]["headroom"]["switchable"]["best_per_session"]
        return {it["session"]: it["arm"] for it in best}
    except (KeyError, TypeError):
        raise Failure(f"{path}: it does not tell the best of two arms of Lissom's in each session; "
                      "measure the hull, or publish it with `lissom report OUT --slim "
                      "FILE`") from None


def chosen(results, path):
    """The name of the arm that switches to the best of each session."""
    best = best_of(results, path)
    sessions = [it["name"] for it in results["parameters"]["workload"]["session"]]
    arm = next(iter(best.values()), None)
    if arm is None:
        raise Failure(f"{path}: every session has an offered rate, and none an arm that is "
                      "faster; measure it without an oracle")
    parts = []
    for session in [*sessions, CLOSING]:
        arm = best.get(session, arm)
        parts.append(f"{session}={arm}")
    return PREFIX + ",".join(parts)


def begun(out):
    """The name that the run in a directory began with; None before its first run has ended."""
    results = out / "results.json"
    arms = read(results)["parameters"]["arms"] if results.exists() else []
    return next((arm for arm in arms if arm.startswith(PREFIX)), None)


def known(hull, out):
    """The name for a run, the one that is kept if any is."""
    kept = out / "oracle.txt"
    if kept.exists():
        return kept.read_text().strip()
    arm = begun(out) or chosen(read(hull), hull)
    out.mkdir(parents=True, exist_ok=True)
    # An interruption leaves all or nothing.
    part = kept.with_suffix(".part")
    part.write_text(arm + "\n")
    os.replace(part, kept)
    return arm


if __name__ == "__main__":
    try:
        print(known(sys.argv[1], Path(sys.argv[2])))
    except (Failure, OSError) as error:
        sys.exit(f"error: {error}")
