"""A whole campaign around a stand-in for `lissom`."""

import fcntl
import itertools
import json
import math
import os
import subprocess
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import testing
import campaign
import disk
import judge
import records
import searching
import sessions
import settings
import studies
import subjects
import tables
import trial
from failure import Failure, MethodFailure
from result_file import matching
from slot import Slot

TOY = testing.HERE / "toy.py"


class WholeCampaign(unittest.TestCase):
    """Takes some seconds: trials of 0.05 s."""

    def setUp(self):
        if not os.access(TOY, os.X_OK):
            testing.skip(self, f"{TOY} cannot be executed here")
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.place = Path(directory.name)
        sizes, table = settings.load()
        self.sizes = settings.Sizes(sizes.memory, 1, 0.05, 1.0, 0)
        subject = subjects.of_setting(table["ycsb-a"], self.sizes, self.place, TOY)
        self.known = {"ycsb-a": subjects.replace(subject, setup=0.0)}
        self.study = studies.main("ycsb-a", ("dremel", "random"))
        self.studies = [self.study, studies.halving("ycsb-a")]
        self.said = []

    def run_until(self, most=None, slot=None):
        """Runs the campaign; an interruption comes behind `most` records. What is left."""
        plan = {"rounds": 3, "seed": 1}
        results = records.Results(self.place / "results.jsonl", plan)
        if most is not None:
            add = results.add

            def add_or_end(record):
                if len(results.records) >= most:
                    raise KeyboardInterrupt
                add(record)
            results.add = add_or_end
        try:
            return campaign.Campaign(self.studies, self.known, results, plan, TOY, self.place,
                                     self.said.append, slot).run()
        finally:
            results.close()

    def held(self):
        return records.read(self.place / "results.jsonl")

    def test_it_goes_on_where_it_was_interrupted(self):
        for most in (4, 9, 20):
            with self.assertRaises(KeyboardInterrupt):
                self.run_until(most)
        self.run_until()
        held = records.read(self.place / "results.jsonl")
        for method in ("dremel", "random"):
            found = matching(held, type="found", method=method)
            self.assertEqual(len(found), 1)
            numbers = [it["number"] for it in matching(held, type="trial", method=method)]
            self.assertEqual(numbers, list(range(1, len(numbers) + 1)))
        for study, of_kind, contenders in (("main", "final", self.study.contenders),
                                           ("main", "early", self.study.points),
                                           ("halving", "final", self.studies[1].contenders)):
            runs = matching(held, type=of_kind, study=study)
            wanted = [(it, turn) for it in contenders for turn in range(3)
                      if turn == 0 or it not in studies.OUTSIDE]
            self.assertEqual(sorted((it["contender"], it["round"]) for it in runs), sorted(wanted))
        achieved, most, standing = judge.halving(matching(held, study="halving"))
        self.assertEqual((achieved, standing), (most, "tie"))
        alike = matching(held, type="final", contender="full-1")
        self.assertEqual([it["as"] for it in alike], ["chosen"] * 3, "it is not run twice")
        text = tables.render(held, self.studies)
        for words in ("dremel: first", "dremel: trials began anew", "by turns: chosen 270"):
            self.assertIn(words, text)
        self.assertTrue(any("left in all" in it for it in self.said))
        before = len(held)
        self.assertEqual(self.run_until(), [])
        self.assertEqual(len(self.held()), before, "all is done")

    def test_what_fits_into_no_slot_is_passed_over(self):
        self.studies = [studies.main("ycsb-a", ("dremel", "random"))]
        # 15 s to prepare, and for a search of Dremel's 15 s to end besides its second.
        left = self.run_until(slot=Slot(10))
        self.assertFalse(matching(self.held(), type="found"))
        self.assertTrue(any("ycsb-a: dremel searches takes 31 s at a stretch" in it
                            for it in self.said))
        self.assertEqual({it.name for it in left if it.kind == "hunt"}, {"dremel", "random"})
        left = self.run_until(slot=Slot(25))
        self.assertEqual([it["method"] for it in matching(self.held(), type="found")], ["random"])
        self.assertFalse(matching(self.held(), type="final"), "a round waits as a whole")
        self.assertEqual([it.name for it in left if it.kind == "hunt"], ["dremel"])

    def test_what_does_not_fit_into_a_slot_is_left_to_the_next(self):
        self.studies = [studies.main("ycsb-a", ("dremel", "random"))]
        left, slots = None, 0
        while left != []:
            # Ten seconds go by at each look at the clock.
            left = self.run_until(slot=Slot(42, itertools.count(0, 10).__next__))
            slots += 1
            # A round of repeats that was begun is ended.
            turns = [it["round"] for it in matching(self.held(), type="final")]
            self.assertIn(len(turns), (0, 5, 9, 13))
        self.assertGreater(slots, 1)
        self.assertEqual(len(turns), 13)
        numbers = [it["number"] for it in matching(self.held(), type="trial", method="random")]
        self.assertEqual(numbers, list(range(1, len(numbers) + 1)))

    def test_a_run_that_fails_is_made_once_more(self):
        self.studies = [studies.main("ycsb-a", ("random",))]
        ran, run = [], trial.Runner.run

        def fails_once(runner, words, text, seconds, *more, **named):
            ran.append(text)
            if text == subjects.rocksdb_defaults(16) and ran.count(text) == 1:
                return {"failure": "it was killed"}
            return run(runner, words, text, seconds, *more, **named)

        with mock.patch.object(trial.Runner, "run", fails_once):
            self.assertEqual(self.run_until(), [])
        runs = matching(self.held(), type="final", contender="rocksdb")
        self.assertEqual([(it["round"], "failure" in it) for it in runs],
                         [(0, True), (0, False), (1, False), (2, False)])
        self.assertIn("run once more, it went well", tables.render(self.held(), self.studies))

    def test_real_sessions_are_run_with_the_settings_as_given_and_as_found(self):
        lissom = subjects.of_lissom(self.sizes, self.place, TOY)
        self.known[lissom.name] = lissom
        self.studies = studies.extras()["lissom"]
        results = records.Results(self.place / "results.jsonl", {"rounds": 3, "seed": 1})
        results.add({"type": "found", "subject": lissom.name, "method": "dremel", "spent": 1.0,
                     "configuration": {"policy": "fixed-4", "write_buffer_size": 1 << 20,
                                       "max_write_buffer_number": 2}})
        results.close()
        asked = []

        def bench(command, out):
            asked.append(command)
            arms = [command[at + 1] for at, it in enumerate(command) if it == "--arm"]
            rounds = int(command[command.index("--rounds") + 1])
            values = {"learned": [44, 45, 46]}
            told = [{"arm": it, "total_seconds": {"values": values.get(it, [50, 51, 52])[:rounds]}}
                    for it in arms]
            (out / "results.json").write_text(json.dumps({"verdict": {"arms": told}}))

        with mock.patch.object(sessions, "carry_out", bench):
            self.assertEqual(self.run_until(), [])
        self.assertEqual(len(asked), 6)
        self.assertEqual(["--set" in it for it in asked], [False, True, True, False, False, True])
        found = judge.real_sessions(self.held(), self.studies[0])
        self.assertEqual(found, {"fixed-1": [50, 51, 52], "learned": [44, 45, 46],
                                 "found": [50, 51, 52], "found and learned": [44, 45, 46]})

    def test_a_method_that_fails_does_not_end_the_others(self):
        self.studies = [self.study]
        with mock.patch.dict(os.environ, TOY_FAILS="1"):
            self.assertEqual(self.run_until(), [])
        held = self.held()
        self.assertEqual([it["failure"] for it in matching(held, type="failed")],
                         2 * ["lissom search failed: error: it cannot be done"])
        self.assertTrue(matching(held, type="found", method="random"))
        self.assertFalse(matching(held, type="final", contender="dremel"))
        self.assertEqual(len(matching(held, type="final", contender="guide")), 3)
        self.assertIn("dremel failed: lissom search failed", tables.render(held, self.studies))
        results = records.Results(self.place / "results.jsonl", {"rounds": 3, "seed": 1})
        results.add({"type": "retry"})
        results.close()
        self.run_until()
        self.assertEqual(len(matching(self.held(), type="final", contender="dremel")), 3)

    def test_two_methods_that_fail_in_a_row_end_it(self):
        self.studies = [studies.main("ycsb-a", ("dremel", "random"))]
        refused = MethodFailure("no trial works")
        with mock.patch.dict(os.environ, TOY_FAILS="1"), \
                mock.patch.object(campaign.hunt, "hunt", side_effect=refused):
            with self.assertRaisesRegex(Failure, "no trial works; dremel failed just before"):
                self.run_until()
        self.assertEqual({it["method"] for it in matching(self.held(), type="failed")}, {"dremel"})

    def test_two_methods_of_one_library_that_fail_are_one(self):
        self.studies = [studies.main("ycsb-a", ("random", "single-task", "multi-task"))]
        refused = MethodFailure("it cannot be loaded")
        search = campaign.hunt.hunt

        def fails(method, *more):
            if method != "random":
                raise refused
            search(method, *more)

        with mock.patch.object(campaign.hunt, "hunt", fails), \
                mock.patch.object(campaign.Campaign, "check_libraries"), \
                mock.patch.object(campaign.install, "versions", return_value={}):
            self.assertEqual(self.run_until(), [])
        failed = [it["method"] for it in matching(self.held(), type="failed")]
        self.assertEqual(failed, 2 * ["single-task"] + 2 * ["multi-task"])
        self.assertEqual(len(matching(self.held(), type="final", contender="random")), 3)

    def test_each_round_has_operations_of_its_own(self):
        self.studies = [studies.main("ycsb-a", ("random",))]
        seeds, run = set(), trial.Runner.run

        def noted(runner, words, *more, **named):
            seeds.add(named.get("seed", trial.SEED))
            return run(runner, words, *more, **named)

        with mock.patch.object(trial.Runner, "run", noted):
            self.run_until()
        self.assertEqual(seeds, {1, 2, 3, 4}, "those of the search, and of three rounds")

    def test_a_disk_that_fills_in_a_search_is_nobodys_failure(self):
        self.studies = [studies.main("ycsb-a", ("dremel",))]
        # Before the data set, before the search, in it.
        room = itertools.chain([9 << 30, 9 << 30, 1 << 20], itertools.repeat(9 << 30))
        with mock.patch.dict(os.environ, TOY_FAILS="1"), \
                mock.patch.object(disk, "free", lambda _: next(room)):
            with self.assertRaisesRegex(Failure, "only 0.0 GiB were free on the disk of"):
                self.run_until()
        self.assertFalse(matching(self.held(), type="failed"))

    def test_a_subject_that_does_not_work_is_passed_over(self):
        broken = subjects.replace(self.known["ycsb-a"], name="broken", words=["false"])
        self.known["broken"] = broken
        self.studies = [studies.main("broken", ("random",)), studies.main("ycsb-a", ("random",))]
        left = self.run_until()
        self.assertEqual({it.subject for it in left}, {"broken"})
        self.assertTrue(any("broken, which is passed over" in it for it in self.said))

    def test_an_interrupted_search_begins_anew(self):
        place = self.place / "searches/ycsb-a/dremel"
        place.mkdir(parents=True)
        (place / "search.jsonl").write_text('{"event":"begin"}\n{"event":"decis')
        def search(seed=1, boot="b"):
            subject = self.known["ycsb-a"]
            return searching.run(TOY, subject, "dremel", place, self.place, seed, boot)

        log, notes = search()
        self.assertEqual((log.best, log.spent, notes), (3, 4, ["two of four", "trials began anew"]))
        self.assertTrue((place / "search-1.jsonl").exists())
        with mock.patch.object(searching, "carry_out") as again:
            self.assertEqual(search()[0].best, 3)
            again.assert_not_called()
        # What another campaign has left, or another machine, is no result of this one.
        search(seed=2)
        search(seed=2, boot="c")
        self.assertEqual(len(list(place.glob("search-*.jsonl"))), 3)
        with open(place / "search.jsonl") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            with self.assertRaisesRegex(Failure, "another search writes"):
                searching.set_aside(place / "search.jsonl", patience=0)

    def test_each_subject_has_a_seed_of_its_own(self):
        _, table = settings.load()
        seeds = {subjects.replace(self.known["ycsb-a"], name=name).seed(asked)
                 for name in table for asked in (1, 2)}
        self.assertEqual(len(seeds), 2 * len(table))
        # Rivals make one of 32 bits of it.
        self.assertLess(max(seeds) * 10_000, 1 << 32)

    def test_a_search_without_end_is_ended(self):
        with mock.patch.object(searching, "LATE", 0):
            failure, _ = searching.carry_out(["sleep", "60"], self.place, self.place, 0.1)
        self.assertIn("did not end", failure)

    def test_a_search_that_takes_its_directory_away_ends_like_any_other(self):
        child = subprocess.Popen(["sleep", "0.1"])
        ended, least = searching.watch(child, 30, self.place / "taken away")
        self.assertTrue(ended)
        self.assertEqual(least, math.inf)

    def test_a_full_disk_is_no_trials_failure(self):
        runner = trial.Runner(self.place / "trials", 1)
        left = self.place / "trials/trial-left"
        left.mkdir(parents=True)
        with mock.patch.object(disk, "LEAST_FREE", 1 << 60):
            with self.assertRaisesRegex(Failure, "GiB are free"):
                runner.run([str(TOY), "trial"], "", 1)
        self.assertFalse(left.exists(), "what a killed harness has left is removed")


if __name__ == "__main__":
    unittest.main()
