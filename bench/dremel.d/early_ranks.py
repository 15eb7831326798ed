"""Whether trials that run in full keep the ranks that they have early on, by which halving stops
the others: pure."""

import statistics
from dataclasses import dataclass

import curves

# Shares of a full evaluation that are looked at, whatever the search looked at.
SHARES = (0.1, 0.2, 0.4, 0.6, 0.8)
# Trials of which a rank correlation says something.
LEAST = 4
# Readings of different trials that lie nearer, as a share of the longest, are of one point.
NEAR = 0.05


@dataclass(frozen=True)
class Moment:
    """What could be known after some seconds of each trial."""

    second: float
    # Whether the search compared its trials then.
    compared: bool
    # Rank correlations of the means so far with those at the end, and with those of what came
    # after, in which the means so far have no part.
    with_end: float | None
    with_rest: float | None
    # The place then of the trial that is the best at the end, of how many.
    place: int
    trials: int
    # What the trial that led then is worth at the end, as a share of the best.
    leader: float


def in_full(records, subject):
    """Samples of the trials that ran in full, by their numbers."""
    return {it["number"]: it["series"] for it in records
            if it["type"] == "full" and it["subject"] == subject and it.get("series")}


def points(records, subject, method="dremel"):
    """Seconds of a trial at which the search compared several trials, the end of a full evaluation
    left out."""
    found = sorted((reading["seconds"], it["number"]) for it in records
                   if it["type"] == "trial" and it["subject"] == subject
                   and it["method"] == method for reading in it.get("readings", []))
    ends = [it[-1][0] for it in in_full(records, subject).values()]
    longest = max([found[-1][0] if found else 0.0, *ends])
    groups = []
    for second, number in found:
        if groups and second - groups[-1][-1][0] <= NEAR * longest:
            groups[-1].append((second, number))
        else:
            groups.append([(second, number)])
    together = [it for it in groups if len({number for _, number in it}) > 1]
    seconds = [statistics.median(second for second, _ in it) for it in together]
    return [it for it in seconds if it < curves.REACHED * longest]


def moments(records, subject):
    """What could be known at the points of the search and at shares of a full evaluation, in
    order; empty before several trials ran in full."""
    series = in_full(records, subject)
    if len(series) < 2:
        return []
    longest = min(it[-1][0] for it in series.values())
    compared = [it for it in points(records, subject) if it < longest]
    far = [it * longest for it in SHARES
           if all(abs(it * longest - other) > NEAR * longest for other in compared)]
    seconds = {**dict.fromkeys(far, False), **dict.fromkeys(compared, True)}
    found = [moment(series, second, seconds[second]) for second in sorted(seconds)]
    return [it for it in found if it]


def moment(series, second, compared):
    """What could be known then; None where hardly a trial had a sample."""
    early = {number: curves.mean(it, 0.0, second) for number, it in series.items()}
    known = [it for it in sorted(series) if early[it] is not None]
    if len(known) < 2:
        return None
    ends = {it: curves.mean(series[it], 0.0, float("inf")) for it in known}
    rest = {it: curves.mean(series[it], second, float("inf")) for it in known}
    best, leader = (max(known, key=lambda it: (figures[it], -it)) for figures in (ends, early))
    lasting = [it for it in known if rest[it] is not None]
    return Moment(second, compared, correlation(early, ends, known),
                  correlation(early, rest, lasting),
                  1 + sum(early[it] > early[best] for it in known), len(known),
                  ends[leader] / ends[best] if ends[best] > 0 else 1.0)


def correlation(one, other, known):
    """Spearman's, of those that are known; None where it would say nothing."""
    if len(known) < LEAST:
        return None
    one, other = (ranks([it[number] for number in known]) for it in (one, other))
    if len(set(one)) == 1 or len(set(other)) == 1:
        return None
    return statistics.correlation(one, other)


def ranks(numbers):
    """A rank for each; equal ones share the mean of theirs."""
    ordered = sorted(numbers)
    return [ordered.index(it) + (ordered.count(it) + 1) / 2 for it in numbers]
