"""The file of a campaign, and what it holds for good."""

import os
import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import testing
import fit
import hunt
import install
import machine
import pinned
import records
import settings
import studies
import subjects
from failure import Failure


class Records(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.path = Path(directory.name) / "out" / "results.jsonl"

    def test_two_campaigns_at_once_and_other_plans_are_refused(self):
        results = records.Results(self.path, {"budget": 6})
        with self.assertRaisesRegex(Failure, "another run writes"):
            records.Results(self.path, {"budget": 6})
        results.close()
        with self.assertRaisesRegex(Failure, "another budget"):
            records.Results(self.path, {"budget": 7})
        records.Results(self.path, {"budget": 6}).close()

    def test_a_foreign_file_is_refused(self):
        self.path.parent.mkdir()
        self.path.write_text('{"type":"final"}\n')
        with self.assertRaisesRegex(Failure, "no results of bench/dremel"):
            records.read(self.path)


    def test_records_have_the_boot_on_which_they_were_made(self):
        results = records.Results(self.path, {"budget": 6})
        self.assertEqual(results.boot, machine.boot(), "it stays the same")
        results.add({"type": "trial", "number": 1}, {"type": "trial", "number": 2, "boot": "x"})
        results.close()
        self.assertEqual([it["boot"] for it in records.read(self.path)[1:]], 2 * [results.boot])
        with mock.patch.object(machine, "BOOT", self.path):
            self.assertNotEqual(machine.boot(), results.boot)


class Fit(unittest.TestCase):
    """What can be measured here."""

    def setUp(self):
        self.said = []
        self.known = {it: testing.subject(it) for it in ("double-get30", "preloaded-get60")}
        self.main = studies.main("double-get30", ("random",))
        self.trial = {"type": "trial", "subject": "double-get30", "method": "random", "number": 1,
                      "boot": "a"}

    def fit(self, found, *held, boot="b", other_machine=False):
        results = SimpleNamespace(records=[{"type": "plan"}, *held], boot=boot)
        return fit.fit(found, self.known, results, 1, other_machine, self.said.append)

    def test_what_was_begun_under_another_boot_is_not_gone_on_with(self):
        other = studies.main("preloaded-get60")
        self.assertEqual(self.fit([self.main, other], self.trial), [other])
        self.assertRegex(self.said[0], "^main double-get30 is passed over: .*--other-machine$")
        self.assertEqual(self.fit([self.main], self.trial, boot="a"), [self.main])
        self.assertEqual(self.fit([self.main], self.trial, other_machine=True), [self.main])
        self.assertEqual(len(self.said), 1)

    def test_what_is_done_is_of_whatever_boot(self):
        runs = [{"type": "final", "study": "main", "subject": "double-get30", "round": 0,
                 "contender": it, "boot": "a"} for it in self.main.contenders]
        found = {**self.trial, "type": "found"}
        self.assertEqual(self.fit([self.main], self.trial, found, *runs), [self.main])
        self.assertEqual(self.said, [])

    def test_without_db_bench_the_others_are_measured(self):
        (study,) = studies.extras()["db-bench"]
        sizes, _ = settings.load()
        self.known[study.subject] = subjects.of_db_bench(sizes, Path("/d"), "/l")
        with mock.patch.object(install.shutil, "which", return_value=None), \
                mock.patch.object(install.os, "geteuid", return_value=1):
            self.assertEqual(self.fit([study, self.main]), [self.main])
        self.assertIn("apt-get install rocksdb-tools", self.said[0])
        with mock.patch.object(install.shutil, "which", lambda it: it == "apt-get"), \
                mock.patch.object(install.os, "geteuid", return_value=0), \
                mock.patch.object(install.debian, "install"):
            self.assertEqual(self.fit([study]), [])
        self.assertIn("there is no db_bench in PATH", self.said[1])


class Trials:
    """Runs trials, each for 30 s by its own clock."""

    def __init__(self):
        self.ran = 0

    def now(self):
        return 30.0 * self.ran

    def run(self, _words, _text, _seconds):
        self.ran += 1
        return {"seconds": 30.0, "metrics": {"throughput": 100.0 + self.ran}}


class Shared(unittest.TestCase):
    """Trials that several rivals begin with."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.results = records.Results(Path(directory.name) / "results.jsonl", {"seed": 1})
        self.addCleanup(self.results.close)
        self.subject = subjects.replace(testing.subject("double-get30"), budget=7.5 * 30)
        self.trials = Trials()

    def hunt(self, method):
        offset = {"random": 0, "single-task": 100, "multi-task": 200}[method]
        first = lambda own: len(own) if len(own) < 5 else offset + len(own)
        who = SimpleNamespace(propose=lambda own, _: {"a": first(own)})
        with mock.patch.object(hunt, "proposer", return_value=who), \
                mock.patch.object(hunt, "Random"), \
                mock.patch.object(hunt.time, "monotonic", self.trials.now):
            hunt.hunt(method, self.subject, SimpleNamespace(file=str), self.trials, self.results,
                      {"seed": 1}, lambda _: None)
        return self.results.all(type="trial", method=method)

    def test_they_run_once_and_count_in_the_time_of_each(self):
        first, second, third = map(self.hunt, ("random", "single-task", "multi-task"))
        self.assertEqual(self.trials.ran, 7 + 2 + 2)
        self.assertEqual([it["at"] for it in second], [it["at"] for it in first])
        self.assertEqual([it["metrics"] for it in third[:5]], [it["metrics"] for it in first[:5]])
        self.assertEqual([it.get("shared") for it in third], 5 * ["random"] + 2 * [None])
        self.assertNotEqual(third[5]["configuration"], second[5]["configuration"])
        self.assertFalse(any("shared" in it for it in first))
        found = self.results.find(type="found", method="single-task")
        self.assertEqual(found["spent"], 210)
        known = hunt.others(self.results, "another", "multi-task")["double-get30"]
        self.assertEqual(len(known), 11, "each is known once")


class Pinned(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.place = Path(directory.name)
        self.program = self.place / "lissom"
        self.build("one")
        self.results = records.Results(self.place / "out/results.jsonl", {"budget": 6})
        self.addCleanup(self.results.close)

    def build(self, text):
        self.program.write_text(text)
        self.program.chmod(0o755)

    def pin(self, **more):
        """Pins the program and notes it, as a campaign does."""
        copy = pinned.pin(self.program, self.place / "out", self.results, **more)
        origin = {"type": "program", "sha256": pinned.fingerprint(copy)}
        if not self.results.find(**origin):
            self.results.add(origin)
        return copy

    def test_a_build_does_not_replace_the_program_of_a_campaign(self):
        copy = self.pin()
        self.assertTrue(os.access(copy, os.X_OK))
        self.build("two")
        self.assertEqual(copy.read_text(), "one")
        with self.assertRaisesRegex(Failure, f"--lissom {copy} .*--other-program"):
            self.pin()
        other = self.pin(other=True)
        self.assertEqual((other.read_text(), copy.read_text()), ("two", "one"))
        self.assertEqual(self.pin(), other, "it is known from here on")
        self.program = copy
        self.assertEqual(self.pin(), copy)

    def test_a_damaged_copy_is_made_anew(self):
        copy = self.pin()
        copy.write_text("on")
        self.assertEqual(self.pin().read_text(), "one")


if __name__ == "__main__":
    unittest.main()
