"""What is compared with what: studies as data, and the steps that they are made of."""

from dataclasses import dataclass
from math import ceil

import settings
from failure import Failure
from proposers import FIRST

# The rivals in their order; tpe stands in for single-task where BoTorch cannot be had.
METHODS = ("dremel", "random", "single-task", "multi-task")
RIVALS = ("random", "single-task", "multi-task", "tpe")
# The guide: the defaults of the paper's table 1. RocksDB's own defaults: in proportion to
# the memory, and, outside of the comparison, as they are, which is more memory than the
# others have.
GUIDE, ROCKSDB, UNSCALED = "guide", "rocksdb", "rocksdb-unscaled"
# The same two of db_bench's own defaults.
DB_BENCH, DB_BENCH_UNSCALED = "db-bench", "db-bench-unscaled"
OUTSIDE = (UNSCALED, DB_BENCH_UNSCALED)
# Of the budget: what led Dremel's search by then is run again together with what was found at
# last.
HALF = 0.5
# What a search chose, and the best of its trials when each of them ran in full.
CHOSEN, BEST = "chosen", ("full-1", "full-2", "full-3")
# Lissom's settings under real sessions: as they are given, and as a search found them.
GIVEN, FOUND = "given", "found"
# Seconds in which `lissom bench` runs two arms, loads and closing sessions included.
SESSIONS = 240.0
# Features, of which each combination of buckets is an arm, and what rounds try besides, with
# the default.
FEATURES = ("compaction_frequency", "write_buffer_full_frequency", "read_sstable_cost",
            "block_cache_hit_rate")
BUCKETS = {f"dremel-{number}-buckets": number for number in (2, 3, 4)}
# Searches with all features and without each, and their share of the budget: what they found is
# compared only with each other.
ABLATIONS = ("dremel-with-all", *(f"dremel-without-{it}" for it in FEATURES))
ABLATION_SHARE = 2 / 3
BESIDES = 16
# The latest points at which trials are compared, as shares of a full evaluation: the paper's
# 60, 80 and 100 s of 120. A search as published sees no more of a trial than the last of them;
# one that uses its whole budget lets some run on, up to twice as long.
POINTS = (60 / 120, 80 / 120, 100 / 120)

# `lissom search`, which uses its whole budget, and how its rounds choose from an arm.
SEARCHES = {"search": "random", "search-heuristic": "heuristic", "search-near": "near"}

ABLATED = "double-get30"
LATENCY = "preloaded-get60"
# Where early stopping lost most in the paper.
HALVED = "initial-get30-skew03"


@dataclass(frozen=True)
class Study:
    """Methods on one subject, and who is run again by turns."""

    name: str
    subject: str
    methods: tuple
    others: tuple
    # Whether what led Dremel's search after half of its budget is run again, too.
    early: bool = False
    # Of methods with different times the one with the least: what led the others when its time
    # was over is run again, too.
    shortest: str = ""
    # Whether all trials of the search run in full, and the best of them by turns.
    in_full: bool = False
    # Whether what was found is compared under `lissom bench`, whose sessions are real ones.
    sessions: bool = False

    @property
    def contenders(self):
        return (CHOSEN, *BEST) if self.in_full else self.methods + self.others

    @property
    def points(self):
        """What led searches early."""
        if self.shortest:
            return tuple(in_time_of(it, self.shortest) for it in self.methods
                         if it != self.shortest)
        return (at_share("dremel", HALF),) if self.early and "dremel" in self.methods else ()

    def moments(self, method):
        """What led a search early, and what it found at last, in this order."""
        return [*(it for it in self.points if moment_of(it)[0] == method), method]

    @property
    def own(self):
        """The method that it is about."""
        own = "dremel" in self.methods and self.name != "search"
        return "dremel" if own else self.methods[0]


@dataclass(frozen=True)
class Step:
    """Something that is done as a whole, or not yet."""

    kind: str
    study: str
    subject: str
    name: str
    number: float
    seconds: float


def main(setting, methods=METHODS, turn=0):
    """The paper's comparison in one setting. Who goes first differs from setting to
    setting, whatever else is asked for."""
    turn %= len(methods)
    return Study("main", setting, methods[turn:] + methods[:turn], (GUIDE, ROCKSDB, UNSCALED),
                 early=True)


def halving(setting):
    """What early stopping loses."""
    return Study("halving", setting, ("dremel",), (), in_full=True)


def extras():
    """The other comparisons, by name; what may be left out comes last."""
    two, three, four = BUCKETS
    return {
        "lissom": [Study("lissom", "lissom-settings", ("dremel",), (), sessions=True)],
        "db-bench": [Study("db-bench", "debian-db-bench", ("dremel",),
                           (GUIDE, DB_BENCH, DB_BENCH_UNSCALED))],
        "features": [Study("features", ABLATED, ABLATIONS, ())],
        "search": [Study("search", it, (*SEARCHES, "dremel", "random", "single-task"), (GUIDE,))
                   for it in (HALVED, ABLATED)],
        "both": [Study("both", LATENCY, ("dremel", "dremel-both"), (GUIDE,))],
        "halving": [halving(HALVED)],
        # All of them with --restart: so many trials as 3 and 4 buckets have cannot wait here. The
        # first is the part of the second that fits into a slot.
        "buckets": [Study("buckets", ABLATED, (two, three), (GUIDE,), shortest=two)],
        "four-buckets": [Study("four-buckets", ABLATED, (two, three, four), (GUIDE,),
                               shortest=two)],
    }


def choose(names, asked, methods):
    """The studies of these names, the main one in the settings that are asked for. What is
    measured in one setting follows each other, for it has to be of one machine."""
    others = extras()
    found = []
    for name in names:
        if name in ("main", "every"):
            found += [main(setting, methods, settings.place(setting)) for setting in asked]
        if name == "every":
            found += [study for extra in others.values() for study in extra]
        elif name in others:
            found += others[name]
        elif name != "main":
            raise Failure(f"there is no study {name}: choose main, every, or of "
                          f"{', '.join(others)}")
    order = list(dict.fromkeys(it.subject for it in found))
    return sorted(found, key=lambda it: order.index(it.subject))


def possible(settings, with_tpe=()):
    """All studies in all settings, in the order of the report; in some TPE has searched, too."""
    mains = [main(it, METHODS + ("tpe",) if it in with_tpe else METHODS) for it in settings]
    return mains + [study for extra in extras().values() for study in extra]


def budget(method, subject):
    """Seconds by the clock that a method has. Of searches with different buckets each has
    what all its arms and rounds take, or the number would decide who runs any rounds."""
    if method in BUCKETS:
        return in_restarts(BUCKETS[method] ** len(FEATURES) + BESIDES, subject)
    return subject.budget * (ABLATION_SHARE if method in ABLATIONS else 1)


def in_restarts(trials, subject):
    """Seconds of so many trials that are halved at the latest points and begin anew at each."""
    seconds = 0.0
    for share in POINTS:
        seconds += trials * (share * subject.evaluation + subject.setup)
        trials = ceil(trials / 2)
    return seconds


def once(subject):
    """Seconds of one full evaluation."""
    return subject.evaluation + subject.setup


def steps(study, subject, rounds):
    """Everything that a study takes, in its order. The same search serves several studies."""
    found = list(hunts(study, subject))
    if study.sessions:
        return found + [Step("sessions", study.name, study.subject, side, turn, SESSIONS)
                        for turn in range(rounds) for side in by_turns((GIVEN, FOUND), turn)]
    seconds = once(subject)
    if study.in_full:
        # As many as the paper's 31 and the default.
        found.append(Step("full", study.name, study.subject, "dremel", 0, 32 * seconds))
    for turn in range(rounds):
        found += [Step("early" if moment_of(contender)[1] else "final", study.name,
                       study.subject, contender, turn, seconds)
                  for contender in by_turns(in_round(study, turn), turn)]
    return found


def hunts(study, subject):
    """The searches. The trials that all rivals begin with are run by the first of them."""
    shared = 0.0
    for method in study.methods:
        rival = method in RIVALS
        seconds = budget(method, subject) - (shared if rival else 0.0)
        yield Step("hunt", "", study.subject, method, 0, max(0.0, seconds))
        shared = FIRST * once(subject) if rival else shared


def in_round(study, turn):
    """Who runs in a round; those outside of the comparison run once."""
    return tuple(it for it in study.contenders + study.points if turn == 0 or it not in OUTSIDE)


def at_share(method, share):
    """The name of what led a search at a share of its time."""
    return f"{method}@{share:.0%}"


def in_time_of(method, other):
    """The name of what led a search when another method's time was over."""
    return f"{method}@{other}"


def moment_of(contender):
    """(method, moment) of what led its search early; of any other (name, None)."""
    method, _, moment = contender.partition("@")
    return method, moment or None


def seconds_of(contender, subject):
    """Seconds of its search after which a contender had been found."""
    method, moment = moment_of(contender)
    whole = budget(method, subject)
    if moment is None:
        return whole
    if moment.endswith("%"):
        return whole * float(moment[:-1]) / 100
    return min(whole, budget(moment, subject))


def searched(step):
    """The method without whose search a step cannot be done."""
    if step.kind in ("full", "sessions") or step.name in (CHOSEN, *BEST):
        return "dremel"
    return moment_of(step.name)[0]


def by_turns(contenders, turn):
    """The order of a round: each begins with another."""
    turn %= len(contenders)
    return contenders[turn:] + contenders[:turn]


def told(step):
    """A step in words."""
    what = {"hunt": f"{step.name} searches", "full": "all trials of the search in full",
            "sessions": f"round {step.number + 1:.0f} of sessions: the settings as {step.name}"}
    return f"{step.subject}: " + what.get(step.kind, f"round {step.number + 1:.0f}: {step.name}")


def duration(seconds):
    """For people."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
