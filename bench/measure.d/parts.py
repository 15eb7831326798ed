#!/usr/bin/env python3
"""What each part of the learner is worth, over many simulated workloads.

Usage: parts.py DIRECTORY

DIRECTORY has the output of `lissom sim` with `learned` and its ablations, one file for each
workload on each machine: MACHINE.KIND.txt, or MACHINE.KIND-NUMBER.txt where a kind has many. A
part is told by how much longer the learner takes without it, each workload against itself: the
mean and its standard error where a kind has many workloads, the one number where it has one.
"""

import math
import re
import statistics
import sys
from pathlib import Path

WHOLE = "learned"
WITHOUT = f"{WHOLE}-without-"
# "  learned-without-prior: +3.7 ±3.6 % against it, ..."
ROW = re.compile(r"^ *(\S+): ([-+][0-9.]+)(?: ±[0-9.]+)? % against it", re.MULTILINE)


class NotWhole(Exception):
    """A file lacks what is compared."""


def longer(text, name):
    """By part, percent that the learner takes longer without it."""
    over = {arm: float(percent) for arm, percent in ROW.findall(text)}
    parts = [arm for arm in over if arm.startswith(WITHOUT)]
    if WHOLE not in over or not parts:
        raise NotWhole(f"{name}: no {WHOLE} beside its ablations; remove it, and measure it again")
    ratio = {arm: 1.0 + percent / 100.0 for arm, percent in over.items()}
    return {arm.removeprefix(WITHOUT): 100.0 * (ratio[arm] / ratio[WHOLE] - 1.0)
            for arm in parts}


def gathered(files):
    """By column, (machine, kind), what each of its workloads tells of each part."""
    columns = {}
    for path in files:
        machine, workload = path.name.removesuffix(".txt").split(".", 1)
        kind = re.sub(r"-[0-9]+$", "", workload)
        columns.setdefault((machine, kind), []).append(longer(path.read_text(), path.name))
    return columns


def cell(values):
    """The mean and its standard error; of one workload its number."""
    mean = statistics.fmean(values)
    if len(values) == 1:
        return f"{mean:+.1f} %"
    error = statistics.stdev(values) / math.sqrt(len(values))
    return f"{mean:+.1f} ±{error:.1f} %"


def rendered(columns):
    """A table with a row for each part, those first that are worth most."""
    keys = sorted(columns, key=lambda it: (-len(columns[it]), it))
    parts = {part for rows in columns.values() for row in rows for part in row}
    told = {part: [[row[part] for row in columns[key] if part in row] for key in keys]
            for part in parts}
    weight = {part: statistics.fmean(map(statistics.fmean, filter(None, told[part])))
              for part in parts}
    lines = [["without", *(f"{kind}, {machine}" for machine, kind in keys)],
             ["workloads", *(str(len(columns[key])) for key in keys)]]
    lines += [[part, *(cell(it) if it else "-" for it in told[part])]
              for part in sorted(parts, key=lambda it: (-weight[it], it))]
    widths = [max(map(len, column)) for column in zip(*lines)]
    return "\n".join("  ".join([line[0].ljust(widths[0]),
                                *(it.rjust(width) for it, width in zip(line[1:], widths[1:]))])
                     for line in lines)


if __name__ == "__main__":
    try:
        print(rendered(gathered(sorted(Path(sys.argv[1]).glob("*.*.txt")))))
    except NotWhole as error:
        sys.exit(str(error))
