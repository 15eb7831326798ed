#!/usr/bin/env python3
"""What each arm of a closed loop carried, from its results.json.

An arm's figure is the one of `lissom bench --rates-from`: its median over the rounds that hold all
arms, in the session in which that is lowest.
"""

import json
import statistics
import sys


def carried(results):
    """Operations a second by arm; an arm that has not run is left out."""
    found = {}
    for arm in results["parameters"]["arms"]:
        runs = [run for run in results["runs"] if run["arm"] == arm and is_whole(run, results)]
        if runs:
            names = [it["name"] for it in results["parameters"]["workload"]["session"]]
            found[arm] = min(statistics.median(rates(runs, name)) for name in names)
    return found


def is_whole(run, results):
    """Whether the round of a run holds all arms."""
    ran = {it["arm"] for it in results["runs"] if it["round"] == run["round"]}
    return ran >= set(results["parameters"]["arms"])


def rates(runs, name):
    """Operations a second of one session in each run."""
    return [it["operations"] / max(it["seconds"], 1e-9)
            for run in runs for it in run["sessions"] if it["name"] == name]


def render(results):
    lines = [f"  {arm}: {rate:,.0f}" for arm, rate in carried(results).items()]
    name = results["parameters"]["workload"]["name"]
    return "\n".join([f"Carried by {name}, operations a second", *lines])


if __name__ == "__main__":
    with open(sys.argv[1]) as file:
        print(render(json.load(file)))
