#!/usr/bin/env python3
"""Whether an arm took at most so many percent longer than the best static arm.

Usage: at_most.py RESULTS ARM PERCENT

By the totals of RESULTS, a file of `lissom bench`, in each round against what the best static
arm took in it: "never" is more than "by medians".
"""

import json
import sys
from pathlib import Path

LEAST_ROUNDS = 3


def overs(results, arm):
    """The best static arm; percent over it by medians; the same by round."""
    verdict = results["verdict"]
    headroom = verdict["headroom"]
    best = headroom["best_static_seconds"]
    own = next(it for it in verdict["arms"] if it["arm"] == arm)["total_seconds"]
    by_round = [over(mine, other) for mine, other in zip(own["values"], best["values"])]
    return headroom["best_static"], over(own["median"], best["median"]), by_round


def over(own, other):
    return 100.0 * (own / other - 1.0)


def rendered(results, arm, percent):
    """Two lines: by how much, and the answer."""
    verdict = results["verdict"] or {}
    arms = {it["arm"]: it for it in verdict.get("arms", [])}
    asked = f"{arm} at most {percent:g} % over the best static arm"
    rounds = verdict.get("complete_rounds", 0)
    if rounds < LEAST_ROUNDS:
        return f"{asked}: no answer yet, {rounds} of {LEAST_ROUNDS} rounds are whole"
    if arm not in arms:
        return f"{asked}: no answer, it did not run"
    if not verdict.get("headroom"):
        return (f"{asked}: no answer, there was no static arm to compare with, or none kept to "
                "the bound on space")
    if arms[arm]["over_space_bound"]:
        return f"{asked}: no, it was over the bound on space"
    best, median, by_round = overs(results, arm)
    answer = "yes" if max(by_round) <= percent else "no"
    return (f"{arm} over {best}: {median:+.1f} % by medians, {min(by_round):+.1f} to "
            f"{max(by_round):+.1f} % by round\n{asked}, in every round: {answer}")


if __name__ == "__main__":
    path = Path(sys.argv[1])
    # Nothing is written before the first run has ended.
    results = json.loads(path.read_text()) if path.exists() else {"verdict": None}
    print(rendered(results, sys.argv[2], float(sys.argv[3])))
