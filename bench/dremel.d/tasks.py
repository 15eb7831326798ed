"""What the multi-task model is given: pure. Task 0 is the throughput that is sought; the
others are parts of it (Alabed and Yoneki, EuroMLSys 2021) and other settings' throughput,
which it may learn from."""

import math

# Metrics of the setting's own trials, less of which is better.
PARTS = ("get_p99_micros", "put_p99_micros")
# Points of one other setting, and of all of them together; a fit takes the number of points
# to the third, in the time of who proposes.
MOST, MOST_IN_ALL = 40, 240


def value(trial, metric="throughput"):
    """The logarithm of a metric, so that a factor is the same everywhere; None if unknown."""
    number = trial.get("metrics", {}).get(metric)
    return math.log(number) if number and number > 0 else None


def standardised(values):
    """Mean 0, deviation 1; all 0 where nothing differs."""
    mean = sum(values) / len(values)
    deviation = math.sqrt(sum((it - mean) ** 2 for it in values) / max(1, len(values) - 1))
    return [(it - mean) / deviation if deviation > 0 else 0.0 for it in values]


def goals(trials):
    """What is maximised, for each trial; a failure counts as the worst that was seen."""
    known = [it for it in map(value, trials) if it is not None]
    worst = min(known, default=0.0)
    found = [value(it) for it in trials]
    return standardised([worst if it is None else it for it in found]) if trials else []


def thinned(trials, most):
    """At most so many, at even distances."""
    if len(trials) <= most:
        return trials
    return [trials[number * len(trials) // most] for number in range(most)]


def rows(own, others):
    """(task, trial, value) of everything that is known: of the setting's own trials, and of
    `others`, trials by the name of another setting."""
    found = [(0, trial, goal) for trial, goal in zip(own, goals(own))]
    tasks = 1
    for metric in PARTS:
        known = [it for it in own if value(it, metric) is not None]
        if len(known) > 1:
            values = standardised([-value(it, metric) for it in known])
            found += [(tasks, trial, goal) for trial, goal in zip(known, values)]
            tasks += 1
    most = min(MOST, MOST_IN_ALL // max(1, len(others)))
    for name in sorted(others):
        known = thinned([it for it in others[name] if value(it) is not None], most)
        if len(known) > 1:
            found += [(tasks, trial, goal) for trial, goal in zip(known, goals(known))]
            tasks += 1
    return found
