"""Does what the records still lack, one run at a time."""

from pathlib import Path

import contenders
import hunt
import install
import searching
import sessions
import stretches
import studies
import subjects
from failure import Failure, MethodFailure
from held import Held, left, seconds_left, spent
from machine import machine
from program import fingerprint
from proposers import FIRST, proposer
from slot import OutOfTime, Slot
from space import Space
from trial import FIRST_SETUP_DEADLINE, SEED, Runner

# Seconds of a trial that is wanted for its set-up only.
LEAST = 1.0


class Campaign:
    """All studies that were asked for, over one file of results."""

    def __init__(self, wanted, known, results, plan, program, directory, say, slot=None):
        self.studies, self.known, self.results, self.plan = wanted, known, results, plan
        self.program, self.directory, self.say = Path(program), directory, say
        self.slot = slot or Slot()
        # The data sets that are there, why subjects were passed over.
        self.opened, self.prepared, self.passed = {}, set(), {}
        # The method that has just failed, and a step of the round of repeats that was begun.
        self.last_failed, self.round = None, None
        # Steps for which no slot of this length is long enough.
        self.held_up = set()

    def run(self):
        """Does what fits into the slot, and gives the steps that are left."""
        self.note_origin()
        for subject in {it.subject: it for it in self.studies}:
            self.known[subject].write()
        try:
            self.hold_up()
            self.check_libraries()
            for study in self.studies:
                for step in self.steps(study):
                    if step not in self.held_up:
                        self.do(step)
        except OutOfTime:
            pass
        finally:
            self.close()
        return self.left()

    def hold_up(self):
        """Passes over what takes longer at a stretch than the slot is, and what needs it."""
        long, waiting = stretches.held_up(self.left(), self.known, self.slot.seconds)
        self.held_up = {*long, *waiting}
        for sentence in passed_over(long, self.known, self.slot.seconds):
            self.say(sentence)
        if waiting:
            self.say(f"{len(waiting)} runs wait for it")

    def do(self, step):
        """Takes a step, twice if need be, unless it is done or its subject does not work."""
        while not (self.is_done(step) or step.subject in self.passed):
            needed = self.claim(step)
            # A round that was begun is ended, however late it is.
            if needed > 0:
                self.slot.claim(needed)
            self.tell(step)
            try:
                getattr(self, step.kind)(step)
                self.last_failed = None
            except MethodFailure as failure:
                self.fail(step, failure)

    def claim(self, step):
        """Seconds without which a step is not begun. A search and a round of repeats are
        done at a stretch; what else takes long ends between two trials."""
        if not stretches.round_of(step):
            return stretches.stretch(step, self.known[step.subject])
        if self.round and stretches.same_round(self.round, step):
            return 0.0
        self.round = step
        return sum(it.seconds for it in self.left() if stretches.same_round(it, step))

    def check_libraries(self):
        """Lets each library propose something before hours are spent on what comes first."""
        wanted = {}
        for step in self.left():
            if step.kind == "hunt" and step.name in studies.RIVALS:
                wanted.setdefault(step.name, step.subject)
        for method, subject in wanted.items():
            space = self.space(self.known[subject])
            drawn = space.sample(2 * FIRST, self.plan["seed"])
            own = [{"configuration": it, "metrics": {"throughput": 100.0 + number,
                                                     "get_p99_micros": 10.0 + number % 3}}
                   for number, it in enumerate(drawn)]
            try:
                found = proposer(method, space, self.plan["seed"]).propose(own, {"other": own})
            except Failure:
                raise
            except Exception as error:
                raise Failure(f"the library of {method} does not work here "
                              f"({type(error).__name__}: {error}): run bench/dremel install, or "
                              "leave the method out by --methods") from error
            if not space.allows(found):
                raise Failure(f"{method} proposes what the space does not allow: report this")

    def note_origin(self):
        """Where figures come from; more than one machine, program or version of a library is
        told in the report."""
        methods = {method for study in self.studies for method in study.methods}
        program = fingerprint(self.program)
        libraries = [{"type": "library", "name": name, "version": version}
                     for name, version in install.versions(methods).items()]
        if libraries:
            libraries.append({"type": "environment", **install.environment()})
        for origin in ({"type": "machine", **machine(), "boot": self.results.boot},
                       {"type": "program", "sha256": program}, *libraries):
            if not self.results.find(**origin):
                self.results.add(origin)

    def steps(self, study):
        return studies.steps(study, self.known[study.subject], self.plan["rounds"])

    def is_done(self, step):
        return Held(self.results.records).has(step)

    def left(self):
        found = [step for study in self.studies for step in self.steps(study)]
        return left(found, self.results.records)

    def tell(self, step):
        rest = studies.duration(seconds_left(self.left(), spent(self.results.records)))
        self.say(f"{studies.told(step)}; about {rest} left in all")

    def fail(self, step, failure):
        """Notes that a method failed. Two in a row are nobody's own fault, unless they have the
        same library."""
        if self.last_failed and install.library(self.last_failed) != install.library(step.name):
            raise Failure(f"{failure}; {self.last_failed} failed just before, so that something "
                          "else may be wrong: mend it, and give --retry")
        self.last_failed = step.name
        self.results.add({"type": "failed", "subject": step.subject, "method": step.name,
                          "failure": str(failure)})
        self.say(f"  it failed: {failure}")
        if Held(self.results.records).gave_up(step.subject, step.name):
            self.say(f"  {step.name} is left out in {step.subject}; --retry tries it again")

    def hunt(self, step):
        subject = self.subject(step)
        if not self.prepare(subject):
            return
        if step.name in studies.RIVALS:
            hunt.hunt(step.name, subject, self.space(subject), self.runner(subject),
                      self.results, self.plan, self.say, self.slot)
        else:
            self.search(step, subject)

    def prepare(self, subject):
        """Lets one trial make the data set, which is in nobody's time. False where not even
        that runs: the subject is passed over, and the others go on."""
        if subject.name in self.prepared:
            return True
        space = self.space(subject)
        found = self.runner(subject).run(subject.words, space.file(space.default), LEAST,
                                         FIRST_SETUP_DEADLINE)
        if "failure" in found:
            self.passed[subject.name] = found["failure"]
            self.say(f"  the guide's configuration fails in {subject.name}, which is passed "
                     f"over: {found['failure']}")
            return False
        self.prepared.add(subject.name)
        self.results.add({"type": "prepared", "subject": subject.name, "seconds": found["setup"]})
        return True

    def search(self, step, subject):
        place = self.results.path.parent / "searches" / subject.name / step.name
        log, notes = searching.run(self.program, subject, step.name, place,
                                   self.directory / "search.trials",
                                   subject.seed(self.plan["seed"]), self.results.boot)
        where = {"subject": subject.name, "method": step.name}
        known = {it["number"] for it in self.results.all(type="trial", **where)}
        for trial in log.records():
            # Those that an interruption has cut off from their search's end.
            if trial["number"] not in known:
                self.results.add({"type": "trial", **where, **trial})
        self.results.add({"type": "found", **where, "spent": log.spent, "number": log.best,
                          "configuration": log.trials[log.best]["configuration"],
                          **({"notes": notes} if notes else {})})

    def full(self, step):
        subject = self.subject(step)
        where = {"subject": subject.name}
        for trial in self.results.all(type="trial", method="dremel", **where):
            number = trial["number"]
            if "failure" in trial or self.results.find(type="full", number=number, **where):
                continue
            self.slot.claim(studies.once(subject))
            self.results.add({"type": "full", **where, "number": number,
                              **self.measured(subject, trial["configuration"])})
            self.say(f"  trial {number} in full")
        self.results.add({"type": "full-end", **where})

    def final(self, step):
        """One run of a contender. What another contender is run with is not run twice."""
        subject = self.subject(step)
        record = {"type": step.kind, "study": step.study, "subject": subject.name,
                  "contender": step.name, "round": step.number}
        held, space = self.results.records, self.space(subject)
        other = contenders.twin(held, step.name, subject)
        text = None if other else contenders.text(held, space, step.name, subject)
        if other:
            self.results.add({**record, "as": other})
        elif text is None:
            self.results.add({**record, "failure": contenders.lacking(step.name),
                              "lasting": True})
        else:
            # Other operations in each round, and others than in the search.
            found = self.runner(subject).run(subject.words, text, subject.evaluation,
                                             seed=step.number + SEED + 1)
            self.note_run(record, found)

    early = final

    def sessions(self, step):
        """A round of real sessions with the settings as given, or as found."""
        subject = self.subject(step)
        record = {"type": "sessions", "study": step.study, "subject": subject.name,
                  "side": step.name, "round": step.number}
        configuration = None
        if step.name == studies.FOUND:
            configuration = contenders.found_by("dremel", self.results.records, subject)
            if configuration is None:
                failure = contenders.lacking("dremel")
                self.results.add({**record, "failure": failure, "lasting": True})
                return
        out = self.directory / "sessions" / step.name
        self.note_run(record, sessions.run(self.program, configuration, subject, out,
                                           int(step.number) + 1))

    def note_run(self, record, found):
        self.results.add({**record, **found})
        if "failure" in found:
            self.say(f"  it failed: {found['failure']}")

    def measured(self, subject, configuration):
        text = self.space(subject).file(configuration)
        return self.runner(subject).run(subject.words, text, subject.evaluation)

    def subject(self, step):
        subject = self.known[step.subject]
        if step.kind != "hunt":
            return subject
        return subjects.with_budget(subject, studies.budget(step.name, subject))

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


def passed_over(long, known, seconds):
    """Sentences on what is too long for a slot, each round once."""
    found = []
    for step, took in zip(long, stretches.stretches(long, known)):
        if took > 0:
            found.append(f"passed over: {studies.told(step)} takes {studies.duration(took)} at a "
                         f"stretch, and the slot is {studies.duration(seconds)} long: give more by "
                         "--until")
    return found


def check(wanted, known):
    """What can be known to be wrong before anything is measured."""
    for study in wanted:
        if study.subject not in known:
            raise Failure(f"the study {study.name} needs {study.subject}, which is not known")
        for method in study.methods:
            if method not in studies.RIVALS and method not in searching.VARIANTS:
                raise Failure(f"there is no method {method}: choose of "
                              f"{', '.join([*studies.METHODS, 'tpe'])}")
