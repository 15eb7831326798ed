"""What is to be known before hours are spent: some 15 minutes of measurements."""

import math
import statistics
import subprocess
import time
from shutil import which

import encode
import hunt
import install
import tasks
from campaign import LEAST
from failure import Failure
from machine import boot, machine
from proposers import proposer
from space import Space
from trial import FIRST_SETUP_DEADLINE, SEED, Runner

# Configurations whose set-ups are timed, the guide's among them, and runs of the guide's.
SETUPS, RUNS = 4, 5
# Rows of the multi-task model: trials of the setting, each with two parts, and of others.
OWN, OTHERS, EACH = 7, 6, 40


def gate(chosen, program, directory, path, say):
    """Measures in these subjects, the rows of the multi-task model in the first."""
    place = machine()
    told = [f"{place['processor']}, {place['cores']} cores, {place['memory']}, boot {boot()}",
            db_bench()]
    say("\n".join(told))
    for number, subject in enumerate(chosen):
        subject.write()
        space = Space(program, subject.space, subject.constants, subject.form)
        try:
            lines = [] if number else [proposal(space)]
            lines.append(of_subject(subject, space, Runner(directory / "trials", subject.memory)))
        finally:
            space.close()
        say("\n".join(lines))
        told += lines
        path.write_text("\n".join(told) + "\n")


def db_bench():
    """Which db_bench there is, installed if need be; words."""
    try:
        install.db_bench()
    except Failure as failure:
        return f"db_bench: none, {failure}"
    said = subprocess.run(["db_bench", "--version"], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True)
    lines = (said.stdout + said.stderr).strip().splitlines() or ["it does not say"]
    return f"db_bench: {which('db_bench')}, {lines[0]}"


def proposal(space):
    """How long a multi-task proposal takes with as many rows as it may have; words."""
    trial = lambda it, task: invented(space.parameters, it, task)
    own = [trial(it, 0) for it in space.sample(OWN, SEED)]
    known = {str(task): [trial(it, task) for it in space.sample(EACH, SEED + task)]
             for task in range(1, OTHERS + 1)}
    try:
        # The libraries are loaded before the clock starts, as in a campaign.
        who, fallback = proposer("multi-task", space, SEED), proposer("random", space, SEED)
        begun = time.monotonic()
        _, remark = hunt.proposed(who, fallback, own, known)
    except Failure as failure:
        return f"multi-task: {failure}"
    return (f"multi-task: a proposal over {len(tasks.rows(own, known))} rows takes "
            f"{time.monotonic() - begun:.1f} s{''.join(f', {it}' for it in remark.values())}")


def invented(parameters, configuration, task):
    """A trial whose figures follow its configuration, in each task a little otherwise."""
    places = encode.vector(parameters, configuration)
    good = sum(math.sin(3 * it + number + task / 3) for number, it in enumerate(places))
    return {"configuration": configuration, "metrics": {
        "throughput": 1000 * math.exp(good / 5), "get_p99_micros": 500 * math.exp(-good / 5),
        "put_p99_micros": 90 * math.exp(-good / 9 + places[0] / 5)}}


def of_subject(subject, space, runner):
    """What trials take besides their evaluation, most of it the set-up, and the spread of the
    guide's configuration over other operations; words."""
    guide = space.file(space.default)
    files = [guide, *map(space.file, space.sample(SETUPS - 1, SEED))]
    # The first makes the data set.
    first, *setups = [timed(subject, runner, it, LEAST) for it in (guide, *files)]
    runs = [timed(subject, runner, guide, subject.evaluation, SEED + 1 + turn)
            for turn in range(RUNS)]
    took = lambda it: f"{it['besides']:.1f}"
    throughput = lambda it: f"{it['metrics']['throughput']:,.0f}"
    return (f"{subject.name}: set-ups take {figures(setups, took)} s, the guide's in whole trials "
            f"{figures(runs, took)} s, the first {figures([first], took)} s; {subject.setup:g} s "
            f"are reckoned with; the guide's {figures(runs, throughput)} operations/s, "
            f"{spread([it['metrics']['throughput'] for it in runs if 'metrics' in it])}")


def timed(subject, runner, text, seconds, seed=SEED):
    """A trial with the seconds that it took besides those of its evaluation."""
    begun = time.monotonic()
    found = runner.run(subject.words, text, seconds, FIRST_SETUP_DEADLINE, seed)
    return {**found, "besides": time.monotonic() - begun - found.get("seconds", 0.0)}


def figures(found, figure):
    """A figure of each run, or why it failed."""
    return ", ".join(it.get("failure") or figure(it) for it in found)


def spread(numbers):
    """Half of the range as a share of the median; words."""
    if len(numbers) < 2:
        return "too few runs for a spread"
    half = (max(numbers) - min(numbers)) / 2
    return f"±{half / statistics.median(numbers):.1%}"
