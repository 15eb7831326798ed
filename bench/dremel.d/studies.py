"""What is compared with what: studies as data, and the steps that they are made of."""

from dataclasses import dataclass

from failure import Failure

# The rivals in their order; tpe stands in for single-task where BoTorch cannot be had.
METHODS = ("dremel", "random", "single-task", "multi-task")
RIVALS = ("random", "single-task", "multi-task", "tpe")
# The guide: the defaults of the paper's table 1. RocksDB's own defaults: in proportion to
# the memory, and, outside of the comparison, as they are, which is more memory than the
# others have.
GUIDE, ROCKSDB, UNSCALED = "guide", "rocksdb", "rocksdb-unscaled"
OUTSIDE = (UNSCALED,)
# Of the budget: where the best so far is run in full, to see what it is worth.
SHARES = (0.25, 0.5, 0.75)
# Times the budget, since a trial of each arm must fit: 81 and 256 arms for 16.
FACTORS = {"dremel-3-buckets": 5, "dremel-4-buckets": 10}
# What a trial is thought to take besides its seconds.
SETUP = 5.0

ABLATED = "double-get30"
LATENCY = "initial-get90-skew09"
FEATURES = ("compaction_frequency", "write_buffer_full_frequency", "read_sstable_cost",
            "block_cache_hit_rate")


@dataclass(frozen=True)
class Study:
    """Methods on one subject, and who is run again by turns."""

    name: str
    subject: str
    methods: tuple
    others: tuple
    checkpoints: bool = False
    in_full: bool = False

    @property
    def contenders(self):
        return self.methods + self.others


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
    setting."""
    turn %= len(methods)
    return Study("main", setting, methods[turn:] + methods[:turn], (GUIDE, ROCKSDB, UNSCALED),
                 checkpoints=True)


def extras(chosen):
    """The other comparisons, by name; `chosen` are the settings of the main one."""
    return {
        "features": [Study("features", ABLATED, ("dremel", *(f"dremel-without-{it}"
                                                             for it in FEATURES)), (GUIDE,))],
        "buckets": [Study("buckets", ABLATED,
                          ("dremel", "dremel-3-buckets", "dremel-4-buckets"), (GUIDE,))],
        "halving": [Study("halving", it, ("dremel",), (), in_full=True) for it in chosen[:3]],
        "both": [Study("both", LATENCY, ("dremel", "dremel-p99", "dremel-both"), (GUIDE,))],
        "lissom": [Study("lissom", "lissom-settings", ("dremel",), (GUIDE, "learned"))],
        "db-bench": [Study("db-bench", "debian-db-bench", ("dremel",), (GUIDE, "db-bench"))],
    }


def choose(names, settings, methods):
    """The studies of these names."""
    others = extras(settings)
    found = []
    for name in names:
        if name in ("main", "every"):
            found += [main(setting, methods, turn) for turn, setting in enumerate(settings)]
        if name == "every":
            found += [study for extra in others.values() for study in extra]
        elif name in others:
            found += others[name]
        elif name != "main":
            raise Failure(f"there is no study {name}: choose main, every, or of "
                          f"{', '.join(others)}")
    return found


def budget(method, subject):
    """Seconds by the clock that a method has."""
    return subject.budget * FACTORS.get(method, 1)


def steps(study, subject, rounds):
    """Everything that a study takes, in its order. The same search serves several studies."""
    found = [Step("hunt", "", study.subject, method, 0, budget(method, subject))
             for method in study.methods]
    once = subject.evaluation + SETUP
    if study.checkpoints:
        found += [Step("checkpoint", "", study.subject, method, share, once)
                  for method in study.methods for share in SHARES]
    if study.in_full:
        # As many as the paper's 31 and the default.
        return [*found, Step("full", study.name, study.subject, "dremel", 0, 32 * once)]
    for turn in range(rounds):
        found += [Step("final", study.name, study.subject, contender, turn, once)
                  for contender in by_turns(study.contenders, turn)]
    return found


def by_turns(contenders, turn):
    """The order of a round: each begins with another."""
    turn %= len(contenders)
    return contenders[turn:] + contenders[:turn]


def is_done(step, find):
    """Whether the records hold it; `find` gives the first record with some values."""
    where = {"subject": step.subject}
    if step.kind == "hunt":
        return find(type="found", method=step.name, **where) is not None
    if step.kind == "checkpoint":
        return find(type="checkpoint", method=step.name, share=step.number, **where) is not None
    if step.kind == "full":
        return find(type="full-end", **where) is not None
    return find(type="final", study=step.study, contender=step.name, round=step.number,
                **where) is not None


def seconds_left(left, spent):
    """Seconds of steps that are left; `spent` are seconds of a hunt that was begun, by
    subject and method."""
    return sum(max(0.0, it.seconds - (spent.get((it.subject, it.name), 0.0)
                                      if it.kind == "hunt" else 0.0)) for it in left)


def unique(found):
    """Steps once each."""
    return list(dict.fromkeys(found))


def duration(seconds):
    """For people."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
