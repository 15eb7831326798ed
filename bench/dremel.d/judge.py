"""What came of it: pure functions from records to figures."""

import statistics
from dataclasses import dataclass

import curves
import studies
from held import Held

METRICS = (("throughput", 1.0, "operations/s"), ("get_p99_micros", 1e-3, "get p99, ms"),
           ("put_p99_micros", 1e-3, "put p99, ms"))
# Fewer rounds are no comparison.
LEAST_ROUNDS = 3
# What is worth this share of another is level with it.
LEVEL = 0.95


def runs_of(records, study):
    """The runs that took turns in a study."""
    return [it for it in records if it["type"] in ("final", "early")
            and it["study"] == study.name and it["subject"] == study.subject]


def values(finals, contender, metric):
    """Figures of a contender, one for each round in which it ran, or who ran for it did."""
    return list(by_round(finals, contender, metric).values())


def by_round(finals, contender, metric):
    """The same by rounds."""
    own = [it for it in finals if it["contender"] == contender]
    other = next((it["as"] for it in own if "as" in it), None)
    if other:
        return by_round(finals, other, metric)
    return {it["round"]: it["metrics"][metric] for it in own if metric in it.get("metrics", {})}


def failed_rounds(finals, contender):
    """Rounds in which a contender failed, and again when it was run once more."""
    own = [it for it in finals if it["contender"] == contender]
    return {it["round"] for it in own} - {it["round"] for it in own if "failure" not in it}


def standing(own, other):
    """Of two lists of figures, more of which is better. Ranges that meet are a tie."""
    if min(len(own), len(other)) < LEAST_ROUNDS:
        return "too few"
    if max(own) >= min(other) and max(other) >= min(own):
        return "tie"
    return "better" if min(own) > max(other) else "worse"


def ranking(finals, contenders):
    """(contender, throughputs), the best median first; those outside the comparison and
    those that failed are left out."""
    found = [(it, values(finals, it, "throughput")) for it in contenders
             if it not in studies.OUTSIDE and not failed_rounds(finals, it)]
    return sorted(((it, own) for it, own in found if own),
                  key=lambda pair: -statistics.median(pair[1]))


def ranks(finals, contenders):
    """A rank for each: one more than those that are better for sure."""
    order = ranking(finals, contenders)
    return {own: 1 + sum(standing(theirs, mine) == "better" for _, theirs in order)
            for own, mine in order}


def gain(finals, own, other):
    """How many times another's throughput; None if one is missing."""
    mine, theirs = values(finals, own, "throughput"), values(finals, other, "throughput")
    if not (mine and theirs):
        return None
    return statistics.median(mine) / statistics.median(theirs)


def verdict(finals, contenders, own="dremel", gave_up=False):
    """Whether a method is first: words. Who fails where others do not is behind; `gave_up`
    says that its search failed."""
    there = {it["contender"] for it in finals} - {own, *studies.OUTSIDE}
    order = ranking(finals, contenders)
    rivals = [(it, theirs) for it, theirs in order if it != own]
    if not there.intersection(contenders):
        return "nobody to compare with"
    failed = failed_rounds(finals, own)
    if (gave_up or failed) and not rivals:
        return "not comparable, for its rivals failed, too"
    if gave_up:
        return "behind, for its search failed"
    if failed:
        rounds = {it["round"] for it in finals if it["contender"] == own}
        return f"behind, for it failed in {len(failed)} of {len(rounds)} rounds"
    mine = dict(order).get(own)
    if mine is None:
        return "not measured"
    if min(len(it) for _, it in order) < LEAST_ROUNDS:
        return "too few rounds"
    ahead = [it for it, theirs in rivals if standing(theirs, mine) == "better"]
    if ahead:
        behind = gain(finals, own, ahead[0])
        return f"behind {', '.join(ahead)} ({100 * (behind - 1):.0f} %)"
    level = [it for it, theirs in rivals if standing(theirs, mine) == "tie"]
    return f"first, a tie with {', '.join(level)}" if level else "first"


def of_method(records, study, finals, method):
    """Whether a method is first in a study: words."""
    gave_up = Held(records).gave_up(study.subject, method)
    return verdict(finals, study.contenders, method, gave_up)


def kind(words):
    """What a verdict counts as."""
    if words.startswith("behind"):
        return "behind"
    if words.startswith("first"):
        return "first" if words == "first" else "tie"
    return "not comparable"


@dataclass(frozen=True)
class AfterHalf:
    """What led a search after half of its budget, against what it found at last."""

    # Of the medians, and the least and the most of the rounds.
    ratio: float
    least: float
    most: float
    # Either median as a share of the best median of the setting.
    half: float
    last: float

    @property
    def level(self):
        """Told by the medians: ranges that meet would make the noisier run the more level."""
        return self.ratio >= LEVEL


def after_half(finals, study, method="dremel"):
    """None before they took turns in enough rounds."""
    order = ranking(finals, study.contenders)
    half, last = (by_round(finals, it, "throughput")
                  for it in (studies.at_share(method, studies.HALF), method))
    ratios = [half[it] / last[it] for it in half if it in last and last[it] > 0]
    if not order or len(ratios) < LEAST_ROUNDS:
        return None
    best = statistics.median(order[0][1])
    half, last = (statistics.median(it.values()) for it in (half, last))
    return AfterHalf(half / last, min(ratios), max(ratios), half / best, last / best)


def in_time_of(finals, study):
    """How methods with more time stand against the one with the least, in its time and in
    their own: (method, (factor, standing), (factor, standing)); a factor is None where
    somebody was not measured."""
    theirs = values(finals, study.shortest, "throughput")
    against = lambda it: (gain(finals, it, study.shortest),
                          standing(values(finals, it, "throughput"), theirs))
    return [(method, *map(against, study.moments(method))) for method in study.methods
            if method != study.shortest]


def time_to_best(records, study):
    """Seconds of the search after which what it found led for good, by method."""
    found = {}
    for method in study.methods:
        trials = [it for it in records if it["type"] == "trial"
                  and it["subject"] == study.subject and it["method"] == method]
        at = curves.settled(curves.best_so_far(trials))
        if at is not None:
            found[method] = at
    return found


def halving(finals):
    """What early stopping lost: (median throughput of the chosen one, of the best, their
    standing); None before they took turns. The best is told by runs of their own, since the
    most of single runs is the luckiest."""
    found = {it: values(finals, it, "throughput") for it in (studies.CHOSEN, *studies.BEST)}
    medians = {it: statistics.median(own) for it, own in found.items() if own}
    if studies.CHOSEN not in medians:
        return None
    best = max(medians, key=medians.get)
    words = ("tie" if best == studies.CHOSEN
             else standing(found[studies.CHOSEN], found[best]))
    return medians[studies.CHOSEN], medians[best], words


def single_runs(records, subject):
    """(throughput of the chosen one, the most of all trials, their number) when each ran in
    full once; None before."""
    full = {it["number"]: it["metrics"]["throughput"] for it in records
            if it["type"] == "full" and it["subject"] == subject and "metrics" in it}
    found = [it for it in records if it["type"] == "found" and it["subject"] == subject
             and it["method"] == "dremel"]
    if not (full and found and found[0]["number"] in full):
        return None
    return full[found[0]["number"]], max(full.values()), len(full)


def both(finals):
    """How a search for throughput and latency stands against that for throughput alone, in
    either: (title, standing)."""
    found = []
    for (metric, _, title), sign in ((METRICS[0], 1), (METRICS[1], -1)):
        mine, theirs = ([sign * it for it in values(finals, who, metric)]
                        for who in ("dremel-both", "dremel"))
        found.append((title, standing(mine, theirs)))
    return found


def real_sessions(records, study):
    """Seconds of each contender under real sessions, a list for its rounds."""
    found = {}
    for record in records:
        if record["type"] == "sessions" and (record["study"], record["subject"]) == (
                study.name, study.subject):
            # Each record has all rounds so far.
            found.update(record.get("seconds", {}))
    return {contender: seconds for contender, seconds in found.items() if seconds}
