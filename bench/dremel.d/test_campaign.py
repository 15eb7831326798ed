"""The file of a campaign, and a whole campaign around a stand-in for `lissom`."""

import os
import tempfile
import unittest
from pathlib import Path

import testing
import campaign
import install
import judge
import proposers
import records
import settings
import studies
import subjects
from failure import Failure
from result_file import matching

TOY = testing.HERE / "toy.py"


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


@unittest.skipUnless(os.access(TOY, os.X_OK), "the stand-in cannot be executed")
class WholeCampaign(unittest.TestCase):
    """Takes some seconds: trials of 0.05 s."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.place = Path(directory.name)
        sizes, table = settings.load()
        self.sizes = settings.Sizes(sizes.memory, 1, 0.05, 1.0)
        self.known = {"ycsb-a": subjects.of_setting(table["ycsb-a"], self.sizes, self.place, TOY)}
        self.study = studies.main("ycsb-a", ("dremel", "random"))
        halving = studies.extras(["ycsb-a"])["halving"]
        self.studies = [self.study, *halving]
        self.said = []

    def run_until(self, most=None):
        """Runs the campaign; an interruption comes behind `most` records."""
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
            campaign.Campaign(self.studies, self.known, results, plan, TOY, self.place,
                              self.said.append).run()
        finally:
            results.close()

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
        finals = matching(held, type="final")
        self.assertEqual(len(finals), 3 * len(self.study.contenders))
        self.assertEqual(len({(it["contender"], it["round"]) for it in finals}), len(finals))
        self.assertEqual(judge.halving(held, "ycsb-a")[2], 1.0)
        self.assertIn("dremel: first", judge.render(held, self.studies))
        self.assertTrue(any("left in all" in it for it in self.said))
        before = len(held)
        self.run_until()
        self.assertEqual(len(records.read(self.place / "results.jsonl")), before, "all is done")

    def test_libraries_propose_what_the_rules_allow(self):
        lacking = install.missing(["single-task", "multi-task"])
        if lacking:
            self.skipTest(f"{', '.join(lacking)} is not installed: bench/dremel install")
        from space import Space
        space = Space(TOY, "toy", {}, "json")
        self.addCleanup(space.close)
        own = [{"configuration": it, "metrics": {"throughput": 100 + it["a"] + it["b"]}}
               for it in space.sample(8, 3)]
        for method in ("single-task", "multi-task"):
            found = proposers.proposer(method, space, 1).propose(own, {"other": own})
            self.assertTrue(space.allows(found), method)


if __name__ == "__main__":
    unittest.main()
