"""Which steps records hold, and which are left."""

import studies

# Attempts of a search, or of a run, that fails.
ATTEMPTS = 2
# Records of runs, and what tells one of a kind from the others.
RUNS = {"final": "contender", "early": "contender", "sessions": "side"}


class Held:
    """What records hold."""

    def __init__(self, records):
        self.steps, self.failures, self.attempts = set(), {}, {}
        for record in records:
            self.take(record)

    def take(self, record):
        kind, subject, method = record["type"], record.get("subject"), record.get("method")
        if kind == "found":
            self.steps.add(("hunt", subject, method))
        elif kind == "full-end":
            self.steps.add(("full", subject))
        elif kind in RUNS:
            self.ran(record, (kind, subject, record["study"], record[RUNS[kind]],
                              record["round"]))
        elif kind == "failed":
            self.failures[subject, method] = self.failures.get((subject, method), 0) + 1
        elif kind == "retry":
            self.failures = {}

    def ran(self, record, key):
        """A run that failed is made once more, unless it could not come to anything else."""
        self.attempts[key] = self.attempts.get(key, 0) + 1
        if ("failure" not in record or record.get("lasting")
                or self.attempts[key] >= ATTEMPTS):
            self.steps.add(key)

    def gave_up(self, subject, method):
        """Whether a search failed so often that it is left out, together with its repeats."""
        return (("hunt", subject, method) not in self.steps
                and self.failures.get((subject, method), 0) >= ATTEMPTS)

    def has(self, step):
        """Whether a step is done; what is left out counts as done."""
        keys = {"hunt": ("hunt", step.subject, step.name), "full": ("full", step.subject)}
        run = (step.kind, step.subject, step.study, step.name, step.number)
        return (keys.get(step.kind, run) in self.steps
                or self.gave_up(step.subject, studies.searched(step)))


def left(found, records):
    """Those of some steps that records lack, once each."""
    held = Held(records)
    return [it for it in unique(found) if not held.has(it)]


def seconds_left(left, spent):
    """Seconds of steps that are left; `spent` are seconds of a hunt that was begun, by
    subject and method."""
    return sum(max(0.0, it.seconds - (spent.get((it.subject, it.name), 0.0)
                                      if it.kind == "hunt" else 0.0)) for it in left)


def spent(records):
    """Seconds of hunts that were begun, by subject and method, but for trials that another
    method has run."""
    found, last = {}, {}
    for it in records:
        if it["type"] == "trial" and "at" in it:
            key = it["subject"], it["method"]
            took = it["at"] - last.get(key, 0.0)
            last[key] = it["at"]
            found[key] = found.get(key, 0.0) + (0.0 if "shared" in it else took)
    return found


def boots(records, study):
    """The boots of machines under which a study was measured, with the searches that it takes
    from others."""
    own = [it for it in records if it.get("subject") == study.subject and "boot" in it]
    return {it["boot"] for it in own
            if it["type"] in RUNS and it["study"] == study.name
            or it["type"] == "trial" and it["method"] in study.methods
            or it["type"] == "full" and study.in_full}


def unique(found):
    """Steps once each."""
    return list(dict.fromkeys(found))


def recorded(records, settings):
    """The studies that there are records of: those whose runs took turns, and where a search
    serves none of these, the first that it would serve. `settings` are all names of the main
    comparison."""
    searches = {(it["subject"], it["method"]) for it in records
                if it["type"] in ("trial", "found", "failed")}
    possible = studies.possible(settings, {subject for subject, it in searches if it == "tpe"})
    runs = {(it["study"], it["subject"]) for it in records if it["type"] in RUNS}
    full = {it["subject"] for it in records if it["type"] == "full"}
    found = [it for it in possible
             if (it.name, it.subject) in runs or it.in_full and it.subject in full]
    served = {(it.subject, method) for it in found for method in it.methods}
    for study in possible:
        own = searches.intersection((study.subject, it) for it in study.methods)
        if own - served:
            found.append(study)
            served |= own
    return [it for it in possible if it in found]
