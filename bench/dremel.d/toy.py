#!/usr/bin/env python3
"""Stands in for `lissom` in the test of a whole campaign: a space of two numbers, trials
whose throughput is their sum, and a search that tries four of them."""

import json
import os
import sys
import time
from pathlib import Path

NUMBER = {"integer": {"min": 0, "max": 9, "spacing": {"linear": 1}}}
DESCRIPTION = {"parameters": [{"name": name, "kind": NUMBER} for name in ("a", "b")],
               "default": {"a": 2, "b": 2}}


def value(words, name):
    return words[words.index(name) + 1]


def answer(question):
    (kind, what), = question.items()
    if kind == "check":
        return {"checked": {"broken": [] if what["a"] < 9 else ["a < 9"], "features": []}}
    if kind == "sample":
        seed = what["seed"]
        return {"sampled": [{"a": (seed + 3 * it) % 9, "b": (seed + 7 * it) % 10}
                            for it in range(min(what["count"], 60))]}
    return {"written": {"text": json.dumps(what), "remarks": []}}


def space(words):
    if "--answer" not in words:
        print(json.dumps(DESCRIPTION))
        return
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)


def trial(words):
    try:
        wanted = json.loads(Path(value(words, "--options")).read_text())
    except json.JSONDecodeError:
        # The defaults of RocksDB, which are no JSON.
        wanted = {"a": 1, "b": 1}
    print(json.dumps({"ready": True}), flush=True)
    while True:
        time.sleep(0.01)
        throughput = 100 + 10 * wanted["a"] + 10 * wanted["b"]
        print(json.dumps({"throughput": throughput, "get_p99_micros": 1e6 / throughput,
                          "cumulative": ["get_p99_micros"], "memory_bytes": 1}), flush=True)


def search(words):
    if "TOY_FAILS" in os.environ:
        sys.exit("error: it cannot be done")
    events = [{"event": "begin"}]
    for number, configuration in enumerate(({"a": 2, "b": 2}, {"a": 5, "b": 1}, {"a": 8, "b": 9},
                                            {"a": 0, "b": 9}), 1):
        metrics = {"throughput": 100.0 + 10 * sum(configuration.values())}
        series = [{"second": second / 10, "throughput": metrics["throughput"]}
                  for second in range(1, 4)]
        events += [
            {"event": "decision", "at": number - 1, "decision": {
                "decision": "start", "trial": number, "configuration": configuration,
                "until": 0.3, "reason": "x"}},
            {"event": "measurement", "at": number * 0.2, "measurement": {
                "trial": number, "outcome": {"result": "measured", "seconds": 0.3,
                                             "setup_seconds": 0.1, "metrics": metrics,
                                             "series": series}}}]
    events += [{"event": "decision", "at": 4, "decision": {"decision": "done", "best": 3,
                                                           "reason": "x"}},
               {"event": "end", "at": 4}]
    Path(value(words, "--log")).write_text("".join(json.dumps(it) + "\n" for it in events))
    print(json.dumps({"findings": {"cautions": ["two of four"],
                                   "notes": ["trials began anew"]}}))


{"space": space, "trial": trial, "search": search}[sys.argv[1]](sys.argv[2:])
