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
# Lissom's learner on top of the defaults, and on top of what a search found.
LEARNED, FOUND_LEARNED = "learned", "found-learned"
# Of the budget: where the best so far is run in full, to see what it is worth.
SHARES = (0.25, 0.5, 0.75)
# Times the budget, since a trial of each arm must fit: 81 and 256 arms for 16.
FACTORS = {"dremel-3-buckets": 5, "dremel-4-buckets": 10}
# What a trial is thought to take besides its seconds.
SETUP = 5.0
# What a search may take behind its budget, to end its trials.
ENDING = 15.0
# Attempts of a search that fails.
ATTEMPTS = 2

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

    @property
    def own(self):
        """The method that it is about."""
        return "dremel" if "dremel" in self.methods else self.methods[0]


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
        # All of them with --restart: so many trials as 4 buckets have cannot wait here.
        "buckets": [Study("buckets", ABLATED,
                          ("dremel-2-buckets", "dremel-3-buckets", "dremel-4-buckets"),
                          (GUIDE,))],
        "halving": [Study("halving", it, ("dremel",), (), in_full=True) for it in chosen[:3]],
        "both": [Study("both", LATENCY, ("dremel", "dremel-p99", "dremel-both"), (GUIDE,))],
        "lissom": [Study("lissom", "lissom-settings", ("dremel",),
                         (GUIDE, LEARNED, FOUND_LEARNED))],
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


def once(subject):
    """Seconds of one full evaluation."""
    return subject.evaluation + SETUP


def steps(study, subject, rounds):
    """Everything that a study takes, in its order. The same search serves several studies."""
    found = [Step("hunt", "", study.subject, method, 0, budget(method, subject))
             for method in study.methods]
    seconds = once(subject)
    if study.checkpoints:
        found += [Step("checkpoint", "", study.subject, method, share, seconds)
                  for method in study.methods for share in SHARES]
    if study.in_full:
        # As many as the paper's 31 and the default.
        return [*found, Step("full", study.name, study.subject, "dremel", 0, 32 * seconds)]
    for turn in range(rounds):
        found += [Step("final", study.name, study.subject, contender, turn, seconds)
                  for contender in by_turns(study.contenders, turn)]
    return found


def stretch(step, subject):
    """Seconds of a step that are taken at a stretch. A rival ends between two trials, and so
    do all trials in full; `lissom search` cannot, for its trials wait for each other."""
    if step.kind == "full" or step.kind == "hunt" and step.name in RIVALS:
        return once(subject)
    return step.seconds + ENDING if step.kind == "hunt" else step.seconds


def stretches(left, known):
    """The stretch of each step: of the first repeat of a round that of the round, of the
    others none."""
    rounds = {}
    for step in left:
        rounds[round_of(step)] = rounds.get(round_of(step), 0.0) + step.seconds
    for step in left:
        yield (rounds.pop(round_of(step), 0.0) if step.kind == "final"
               else stretch(step, known[step.subject]))


def check_slot(left, known, seconds):
    """A slot into which something never fits would be begun again and again."""
    found = zip(stretches(left, known), left)
    took, step = max(found, key=lambda it: it[0], default=(0.0, None))
    if took > seconds:
        raise Failure(f"{told(step)} takes {duration(took)} at a stretch, and the slot is "
                      f"{duration(seconds)} long: give more by --until, or shorter times by --scale "
                      "with an --out of their own")


def slots(left, known, seconds):
    """How steps that are left, given in their order, fall into slots of so many seconds: lists
    of (step, seconds) of each. An estimate."""
    found, room = [[]], seconds
    for step, needed in zip(left, stretches(left, known)):
        rest = step.seconds
        while rest > 0:
            if needed > room and found[-1]:
                found.append([])
                room = seconds
            splits = 0 < needed < rest
            took = min(rest, max(needed, room)) if splits else rest
            found[-1].append((step, took))
            rest, room = rest - took, room - took
    return [it for it in found if it]


def round_of(step):
    """The round of a repeat; None of another step."""
    return (step.study, step.subject, step.number) if step.kind == "final" else None


def same_round(one, other):
    """Whether both are repeats of one round."""
    return round_of(one) is not None and round_of(one) == round_of(other)


def by_turns(contenders, turn):
    """The order of a round: each begins with another."""
    turn %= len(contenders)
    return contenders[turn:] + contenders[:turn]


class Held:
    """What records hold."""

    def __init__(self, records):
        self.steps, self.failures = set(), {}
        for record in records:
            self.take(record)

    def take(self, record):
        subject, method = record.get("subject"), record.get("method")
        if record["type"] == "found":
            self.steps.add(("hunt", subject, method))
        elif record["type"] == "checkpoint":
            self.steps.add(("checkpoint", subject, method, record["share"]))
        elif record["type"] == "full-end":
            self.steps.add(("full", subject))
        elif record["type"] == "final":
            self.steps.add(("final", subject, record["study"], record["contender"],
                            record["round"]))
        elif record["type"] == "failed":
            self.failures[subject, method] = self.failures.get((subject, method), 0) + 1
        elif record["type"] == "retry":
            self.failures = {}

    def gave_up(self, subject, method):
        """Whether a search failed so often that it is left out, together with its repeats."""
        return (("hunt", subject, method) not in self.steps
                and self.failures.get((subject, method), 0) >= ATTEMPTS)

    def has(self, step):
        """Whether a step is done; what is left out counts as done."""
        key = {"hunt": ("hunt", step.subject, step.name),
               "checkpoint": ("checkpoint", step.subject, step.name, step.number),
               "full": ("full", step.subject),
               "final": ("final", step.subject, step.study, step.name, step.number)}[step.kind]
        return key in self.steps or self.gave_up(step.subject, step.name)


def left(found, records):
    """Those of some steps that records lack, once each."""
    held = Held(records)
    return [it for it in unique(found) if not held.has(it)]


def seconds_left(left, spent):
    """Seconds of steps that are left; `spent` are seconds of a hunt that was begun, by
    subject and method."""
    return sum(max(0.0, it.seconds - (spent.get((it.subject, it.name), 0.0)
                                      if it.kind == "hunt" else 0.0)) for it in left)


def unique(found):
    """Steps once each."""
    return list(dict.fromkeys(found))


def told(step):
    """A step in words."""
    what = {"hunt": f"{step.name} searches", "full": "all trials of the search in full",
            "checkpoint": f"the best of {step.name} after {step.number:.0%} of its time",
            "final": f"round {step.number + 1:.0f}: {step.name}"}[step.kind]
    return f"{step.subject}: {what}"


def duration(seconds):
    """For people."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
