"""A rival within its budget: ask, run, note, until no full evaluation fits any more."""

import time

from failure import Failure, MethodFailure
from proposers import FIRST, Random, proposer
from slot import Slot
from studies import RIVALS

# So many failures before anything was measured are no fault of configurations.
HOPELESS = 5
# So many proposals in a row that a library failed to make are no accident of numbers.
BROKEN = 3


def hunt(method, subject, space, runner, results, plan, say, slot=None):
    """Goes on where the records end, and notes the best. Between two trials it may end for
    want of time, and goes on from there."""
    slot = slot or Slot()
    own = results.all(type="trial", subject=subject.name, method=method)
    spent = own[-1]["at"] if own else 0.0
    seed = subject.seed(plan["seed"])
    who, drawn = proposer(method, space, seed), Random(space, seed)
    while spent + needed(own, subject.evaluation) <= subject.budget:
        slot.claim(needed(own, subject.evaluation))
        begun = time.monotonic()
        configuration, fallback = proposed(who, drawn, own, others(results, subject.name, method))
        took = time.monotonic() - begun
        record = {"type": "trial", "subject": subject.name, "method": method,
                  "number": len(own) + 1, "proposed": round(took, 3), **fallback,
                  "configuration": configuration}
        known = alike(results, record)
        if known:
            record = {**known, "method": method, "at": spent + seconds_of(results, known),
                      "shared": known["method"]}
        else:
            found = runner.run(subject.words, space.file(configuration), subject.evaluation)
            record = {**record, "at": spent + time.monotonic() - begun, **found}
        spent = record["at"]
        results.add(record)
        own.append(record)
        say(f"  trial {len(own)}: {told(record)}")
        check(method, subject.name, own)
    results.add({"type": "found", "subject": subject.name, "method": method, "spent": spent,
                 **best(own, subject.budget)})


def alike(results, record):
    """The trial of another rival that is the same, if there is one. All begin with the same
    random configurations, which are measured once and counted in the time of each. One that
    failed is made again, for that may have been chance."""
    if record["number"] > FIRST:
        return None
    same = {name: record[name] for name in ("type", "subject", "number", "configuration")}
    return next((it for it in results.all(**same)
                 if it["method"] in RIVALS and it["method"] != record["method"]
                 and "metrics" in it), None)


def seconds_of(results, trial):
    """Seconds that a trial took of its method's time."""
    where = {name: trial[name] for name in ("type", "subject", "method")}
    before = results.find(**where, number=trial["number"] - 1)
    return trial["at"] - (before["at"] if before else 0.0)


def proposed(who, drawn, own, known):
    """(what to try, a remark). Where a library fails over these numbers, a configuration is
    drawn, and the record says so."""
    try:
        return who.propose(own, known), {}
    except Failure:
        raise
    except Exception as error:
        words = f"{type(error).__name__}: {error}".splitlines()[0]
        return drawn.propose(own, known), {"fallback": words[:300]}


def check(method, subject, own):
    """Ends what leads to nothing."""
    if len(own) >= HOPELESS and all("failure" in it for it in own):
        raise MethodFailure(f"the first {len(own)} trials of {method} in {subject} failed, the "
                            f"last one so: {own[-1]['failure']}")
    if len(own) >= BROKEN and all("fallback" in it for it in own[-BROKEN:]):
        raise MethodFailure(f"{method} in {subject} could propose nothing {BROKEN} times in a "
                            f"row: {own[-1]['fallback']}")


def needed(own, evaluation):
    """What another trial takes: its seconds, and what the others took besides: a proposal,
    the set-up, the end."""
    begun = [0.0, *(it["at"] for it in own)]
    more = [it["at"] - before - it["seconds"] for before, it in zip(begun, own)
            if "metrics" in it]
    return evaluation + (sum(more) / len(more) if more else 0.0)


def others(results, subject, method):
    """Full evaluations in other settings, by setting: only the multi-task method looks at
    them."""
    if method != "multi-task":
        return {}
    found = {}
    for record in results.all(type="trial"):
        other = record["subject"]
        own = "readings" not in record and "shared" not in record
        if other != subject and own and "metrics" in record:
            found.setdefault(other, []).append(record)
    return found


def best(own, budget):
    """The trial with the highest throughput, of those that ended within the budget; none if
    all failed."""
    measured = [it for it in own if "metrics" in it and it["at"] <= budget]
    if not measured:
        return {"number": None, "configuration": None}
    first = max(measured, key=lambda it: it["metrics"]["throughput"])
    return {"number": first["number"], "configuration": first["configuration"]}


def told(record):
    if "failure" in record:
        return record["failure"]
    return f"{record['metrics']['throughput']:,.0f} operations a second"
