"""A rival within its budget: ask, run, note, until no full evaluation fits any more."""

import time

from failure import Failure
from proposers import proposer

# So many failures before anything was measured are no fault of configurations.
HOPELESS = 5


def hunt(method, subject, space, runner, results, plan, say):
    """Goes on where the records end, and notes the best."""
    own = results.all(type="trial", subject=subject.name, method=method)
    spent = own[-1]["at"] if own else 0.0
    who = proposer(method, space, plan["seed"])
    while spent + needed(own, subject.evaluation) <= subject.budget:
        begun = time.monotonic()
        configuration = who.propose(own, others(results, subject.name, method))
        proposed = time.monotonic() - begun
        found = runner.run(subject.words, space.file(configuration), subject.evaluation)
        spent += time.monotonic() - begun
        record = {"type": "trial", "subject": subject.name, "method": method,
                  "number": len(own) + 1, "at": spent, "proposed": round(proposed, 3),
                  "configuration": configuration, **found}
        results.add(record)
        own.append(record)
        if len(own) >= HOPELESS and all("failure" in it for it in own):
            raise Failure(f"the first {len(own)} trials of {method} in {subject.name} failed, the "
                          f"last one so: {record['failure']}")
        say(f"  trial {len(own)}: {told(record)}")
    results.add({"type": "found", "subject": subject.name, "method": method, "spent": spent,
                 **best(own)})


def needed(own, evaluation):
    """What another trial takes: its seconds, and what the others took besides."""
    more = [it["setup"] + it["proposed"] for it in own if "setup" in it]
    return evaluation + (sum(more) / len(more) if more else 0.0)


def others(results, subject, method):
    """Full evaluations in other settings, by setting: only the multi-task method looks at
    them."""
    if method != "multi-task":
        return {}
    found = {}
    for record in results.all(type="trial"):
        other = record["subject"]
        if other != subject and "readings" not in record and "metrics" in record:
            found.setdefault(other, []).append(record)
    return found


def best(own):
    """The trial with the highest throughput; none if all failed."""
    measured = [it for it in own if "metrics" in it]
    if not measured:
        return {"number": None, "configuration": None}
    first = max(measured, key=lambda it: it["metrics"]["throughput"])
    return {"number": first["number"], "configuration": first["configuration"]}


def told(record):
    if "failure" in record:
        return record["failure"]
    return f"{record['metrics']['throughput']:,.0f} operations a second"
