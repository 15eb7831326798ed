"""Trials on one machine: their processes, their directories, their memory.

A host is told what to do and says what happened, both in messages of the protocol
between lissom and a runner (docs/search.md). It decides nothing, and needs nothing but
Python, Linux and what it imports of this folder. A runner for many machines has one on
each.
"""

import shutil
import time

from processes import TICK
from root import Root
from trial import Trial

# What is passed on in bundles; everything else is said at once.
PATIENT = ("line", "words", "weighed")


class Host:
    """Runs trials as it is told; one runs at a time, others wait."""

    def __init__(self, directory, search, worker, memory_bytes, keep, place):
        self.root = Root(directory, search, worker, keep)
        self.memory_bytes, self.keep, self.place = memory_bytes, keep, place
        self.trials = {}

    def turn(self, orders, wait):
        """Carries out orders, and gives what happened within so many seconds; at once if
        it is nothing to be bundled."""
        news = []
        for order in orders:
            news += self.act(order)
        until = time.monotonic() + wait
        while True:
            for trial in list(self.trials.values()):
                news += self.look(trial)
            if time.monotonic() >= until or any(it["message"] not in PATIENT for it in news):
                return news
            time.sleep(TICK)

    def act(self, order):
        kind, run = order["message"], order["run"]
        if kind == "start":
            return self.start(order)
        trial = self.trials.get(run)
        if trial is None:
            # It has ended meanwhile.
            return [{"message": "stopped", "run": run}] if kind == "stop" else []
        if kind == "pause":
            return trial.pause()
        if kind == "go_on":
            return trial.go_on()
        trial.end()
        return []

    def start(self, order):
        run = order["run"]
        directory = self.root.own / f"{order['label']}-{run}"
        try:
            trial = Trial(order, directory, self.root.shared, self.memory_bytes)
        except OSError as error:
            self.remove(directory)
            program = order["command"][0]
            why = f"cannot start {program!r} on {self.place}: {error}; check the command and the disk"
            return [{"message": "failed", "why": why}]
        self.trials[run] = trial
        return [trial.says("started", place=self.place)]

    def look(self, trial):
        """What has become of a trial."""
        if trial.ending is not None:
            trial.lines()
            return self.forget(trial) if trial.is_over() else []
        if trial.has_ended():
            news = trial.last_words()
            del self.trials[trial.run]
            self.remove(trial.directory)
            return news
        return trial.lines() + trial.weight()

    def forget(self, trial):
        trial.finish()
        del self.trials[trial.run]
        remark = self.remove(trial.directory)
        return [trial.says("stopped", **({"remark": remark} if remark else {}))]

    def remove(self, directory):
        """Removes a trial's directory; a sentence if that fails."""
        if self.keep:
            return None
        try:
            shutil.rmtree(directory)
        except FileNotFoundError:
            return None
        except OSError as error:
            return f"{directory} on {self.place} could not be removed ({error}): remove it"
        return None

    def close(self):
        """Ends everything."""
        for trial in self.trials.values():
            trial.end()
        while self.trials:
            for trial in list(self.trials.values()):
                self.look(trial)
            time.sleep(TICK)
        self.root.close()
