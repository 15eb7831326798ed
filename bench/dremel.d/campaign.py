"""Does what the records still lack, one run at a time."""

from pathlib import Path

import curves
import hunt
import searching
import studies
import subjects
from failure import Failure
from machine import machine
from space import Space
from trial import Runner

# Seconds of a trial that is wanted for its set-up only.
LEAST = 1.0


class Campaign:
    """All studies that were asked for, over one file of results."""

    def __init__(self, wanted, known, results, plan, program, directory, say):
        self.studies, self.known, self.results, self.plan = wanted, known, results, plan
        self.program, self.directory, self.say = Path(program), directory, say
        self.opened = {}

    def run(self):
        if not self.results.find(type="machine"):
            self.results.add({"type": "machine", **machine()})
        for subject in {it.subject: it for it in self.studies}:
            self.known[subject].write()
        try:
            for study in self.studies:
                for step in self.steps(study):
                    if not studies.is_done(step, self.results.find):
                        self.tell(step)
                        getattr(self, step.kind)(step)
        finally:
            self.close()

    def steps(self, study):
        return studies.steps(study, self.known[study.subject], self.plan["rounds"])

    def left(self):
        found = studies.unique(step for study in self.studies for step in self.steps(study))
        return [it for it in found if not studies.is_done(it, self.results.find)]

    def tell(self, step):
        spent = {(it["subject"], it["method"]): it["at"] for it in self.results.all(type="trial")
                 if "at" in it}
        left = studies.duration(studies.seconds_left(self.left(), spent))
        what = {"hunt": f"{step.name} searches", "full": "all trials of the search in full",
                "checkpoint": f"the best of {step.name} after {step.number:.0%} of its time",
                "final": f"round {step.number + 1}: {step.name}"}[step.kind]
        self.say(f"{step.subject}: {what}; about {left} left in all")

    def hunt(self, step):
        subject = self.subject(step)
        self.prepare(subject)
        if step.name in studies.RIVALS:
            hunt.hunt(step.name, subject, self.space(subject), self.runner(subject),
                      self.results, self.plan, self.say)
        else:
            self.search(step, subject)

    def prepare(self, subject):
        """Lets one trial make the data set, which is in nobody's time."""
        if not self.results.find(type="prepared", subject=subject.name):
            space = self.space(subject)
            found = self.runner(subject).run(subject.words, space.file(space.default), LEAST)
            if "failure" in found:
                raise Failure(f"the guide's configuration fails in {subject.name}: "
                              f"{found['failure']}")
            self.results.add({"type": "prepared", "subject": subject.name,
                              "seconds": found["setup"]})

    def search(self, step, subject):
        place = self.results.path.parent / "searches" / subject.name / step.name
        log = searching.run(self.program, subject, step.name, place,
                            self.directory / "search.trials", self.plan["seed"])
        where = {"subject": subject.name, "method": step.name}
        known = {it["number"] for it in self.results.all(type="trial", **where)}
        for trial in log.records():
            # Those that an interruption has cut off from their search's end.
            if trial["number"] not in known:
                self.results.add({"type": "trial", **where, **trial})
        self.results.add({"type": "found", **where, "spent": log.spent, "number": log.best,
                          "configuration": log.trials[log.best]["configuration"]})

    def checkpoint(self, step):
        subject = self.subject(step)
        where = {"subject": subject.name, "method": step.name}
        trials = self.results.all(type="trial", **where)
        at = step.number * studies.budget(step.name, subject)
        number = curves.leader(trials, at)
        record = {"type": "checkpoint", **where, "share": step.number, "at": at, "number": number}
        known = [it for it in self.results.all(type="checkpoint", **where)
                 if it["number"] == number and "metrics" in it]
        if number is None:
            self.results.add({**record, "failure": "nothing was measured by then"})
        elif known:
            self.results.add({**known[0], **record})
        else:
            configuration = next(it["configuration"] for it in trials if it["number"] == number)
            self.results.add({**record, **self.measured(subject, configuration)})

    def full(self, step):
        subject = self.subject(step)
        where = {"subject": subject.name}
        for trial in self.results.all(type="trial", method="dremel", **where):
            number = trial["number"]
            if "failure" in trial or self.results.find(type="full", number=number, **where):
                continue
            self.results.add({"type": "full", **where, "number": number,
                              **self.measured(subject, trial["configuration"])})
            self.say(f"  trial {number} in full")
        self.results.add({"type": "full-end", **where})

    def final(self, step):
        subject = self.subject(step)
        record = {"type": "final", "study": step.study, "subject": subject.name,
                  "contender": step.name, "round": step.number}
        text = self.file_of(step.name, subject)
        if text is None:
            self.results.add({**record, "failure": "its search measured nothing"})
        else:
            found = self.runner(subject).run(subject.words, text, subject.evaluation)
            self.results.add({**record, **found})

    def file_of(self, contender, subject):
        """The file that a contender is run with; None if there is none."""
        space = self.space(subject)
        if contender == studies.GUIDE:
            return space.file(space.default)
        if contender == studies.ROCKSDB:
            # In the proportion in which the memory is smaller than the paper's.
            return subjects.rocksdb_defaults(2**30 / subject.constants["memory"])
        if contender == studies.UNSCALED:
            return subjects.rocksdb_defaults(1)
        if contender == "learned":
            return space.file({**space.default, "policy": "learned"})
        if contender == "db-bench":
            return "# none\n"
        found = self.results.find(type="found", subject=subject.name, method=contender)
        configuration = found["configuration"] if found else None
        return space.file(configuration) if configuration else None

    def measured(self, subject, configuration):
        text = self.space(subject).file(configuration)
        return self.runner(subject).run(subject.words, text, subject.evaluation)

    def subject(self, step):
        subject = self.known[step.subject]
        factor = studies.FACTORS.get(step.name, 1)
        if step.kind != "hunt" or factor == 1:
            return subject
        return subjects.with_budget(subject, subject.budget * factor)

    def space(self, subject):
        if subject.name not in self.opened:
            self.opened[subject.name] = Space(self.program, subject.space, subject.constants,
                                              subject.form)
        return self.opened[subject.name]

    def runner(self, subject):
        return Runner(self.directory / "trials", subject.memory)

    def close(self):
        for space in self.opened.values():
            space.close()


def check(wanted, known):
    """What can be known to be wrong before anything is measured."""
    for study in wanted:
        if study.subject not in known:
            raise Failure(f"the study {study.name} needs {study.subject}, which is not known")
        for method in study.methods:
            if method not in studies.RIVALS and method not in searching.VARIANTS:
                raise Failure(f"there is no method {method}: choose of "
                              f"{', '.join([*studies.METHODS, 'tpe'])}")
