"""What is planned, and how long it takes."""

import unittest
from pathlib import Path

import testing  # says where the modules lie
import campaign
import hunt
import install
import proposers
import searching
import settings
import studies
import subjects
from failure import Failure, MethodFailure


class Studies(unittest.TestCase):
    def subject(self):
        sizes, table = settings.load()
        return subjects.of_setting(table["double-get30"], sizes, Path("/d"), "/bin/lissom")

    def test_rounds_begin_with_another(self):
        self.assertEqual(studies.by_turns((1, 2, 3), 1), (2, 3, 1))
        first = [studies.main("double-get30", turn=turn).methods[0] for turn in range(4)]
        self.assertEqual(sorted(first), sorted(studies.METHODS))

    def test_steps_and_the_time_left(self):
        study = studies.main("double-get30")
        steps = studies.steps(study, self.subject(), 3)
        kinds = [it.kind for it in steps]
        self.assertEqual([kinds.count(it) for it in ("hunt", "checkpoint", "final")], [4, 12, 21])
        self.assertEqual(studies.seconds_left(steps, {}), 4 * 900 + 33 * 35)
        spent = {("double-get30", "random"): 400.0, ("double-get30", "dremel"): 9999.0}
        self.assertEqual(studies.seconds_left(steps, spent), 4 * 900 + 33 * 35 - 400 - 900)
        self.assertEqual(len(studies.unique(steps + steps)), len(steps))

    def test_slots_hold_what_cannot_be_split(self):
        subject = self.subject()
        known = {subject.name: subject}
        steps = studies.steps(studies.main("double-get30"), subject, 3)
        (whole,) = studies.slots(steps, known, 2 * 3600)
        self.assertEqual([step for step, _ in whole], steps)
        found = studies.slots(steps, known, 1200)
        self.assertEqual(sum(seconds for slot in found for _, seconds in slot),
                         sum(it.seconds for it in steps))
        for slot in found:
            self.assertLessEqual(sum(seconds for _, seconds in slot), 1200)
            for step, seconds in slot:
                if step.kind == "hunt" and step.name == "dremel":
                    self.assertEqual(seconds, 900)
        rounds = [{step.number for step, _ in slot if step.kind == "final"} for slot in found]
        self.assertEqual(sorted(number for slot in rounds for number in slot), [0, 1, 2])
        longest = max(studies.stretches(steps, known))
        self.assertEqual(longest, 900 + studies.ENDING)

    def test_who_fails_twice_is_left_out_until_it_is_tried_again(self):
        steps = studies.steps(studies.main("double-get30"), self.subject(), 1)
        failed = {"type": "failed", "subject": "double-get30", "method": "random"}
        names = lambda held: {it.name for it in studies.left(steps, held)}
        self.assertIn("random", names([failed]))
        self.assertNotIn("random", names([failed, failed]))
        self.assertIn("random", names([failed, failed, {"type": "retry"}]))
        found = {"type": "found", "subject": "double-get30", "method": "random"}
        kinds = {it.kind for it in studies.left(steps, [failed, failed, found])
                 if it.name == "random"}
        self.assertEqual(kinds, {"checkpoint", "final"})

    def test_the_same_search_serves_several_studies(self):
        extra = studies.extras(["double-get30"])["features"][0]
        steps = studies.steps(extra, self.subject(), 3)
        self.assertIn(studies.steps(studies.main("double-get30"), self.subject(), 3)[0], steps)

    def test_buckets_are_compared_in_one_mode(self):
        study = studies.extras(["double-get30"])["buckets"][0]
        steps = studies.steps(study, self.subject(), 3)
        factor = {it.name: it.seconds for it in steps if it.kind == "hunt"}
        self.assertEqual(factor["dremel-3-buckets"], 5 * factor["dremel-2-buckets"])
        self.assertEqual(study.own, "dremel-2-buckets")
        self.assertEqual(studies.main("double-get30", turn=1).own, "dremel")
        for number, method in enumerate(study.methods, 2):
            self.assertEqual(searching.VARIANTS[method],
                             ["--buckets", str(number), "--restart"])

    def test_everything_that_is_planned_is_known(self):
        sizes, table = settings.load()
        known = {it.name: subjects.of_setting(it, sizes, Path("/d"), "/l") for it in table.values()}
        for make in (subjects.of_lissom, subjects.of_db_bench):
            known[make(sizes, Path("/d"), "/l").name] = make(sizes, Path("/d"), "/l")
        found = studies.choose(["every"], list(table)[:3], studies.METHODS)
        campaign.check(found, known)
        with self.assertRaisesRegex(Failure, "no study x"):
            studies.choose(["x"], [], studies.METHODS)
        with self.assertRaisesRegex(Failure, "no method x"):
            campaign.check(studies.choose(["main"], ["ycsb-a"], ("x",)), known)

    def test_rocksdbs_defaults_shrink_with_the_memory(self):
        text = subjects.rocksdb_defaults(16)
        self.assertIn("write_buffer_size=4194304\n", text)
        self.assertIn("block_cache=2097152\n", text)
        self.assertIn("write_buffer_size=67108864\n", subjects.rocksdb_defaults(1))

    def test_times_are_told_in_a_unit(self):
        self.assertEqual([studies.duration(it) for it in (30, 300, 7200)],
                         ["30 s", "5 min", "2.0 h"])


class Hunts(unittest.TestCase):
    def test_what_a_trial_takes_is_learned(self):
        self.assertEqual(hunt.needed([], 30), 30)
        self.assertEqual(hunt.needed([{"setup": 4, "proposed": 2}, {"failure": "x"}], 30), 36)
        self.assertEqual(hunt.best([{"failure": "x"}], 9)["configuration"], None)

    def test_what_ends_behind_the_budget_does_not_count(self):
        own = [{"number": number, "at": at, "configuration": {},
                "metrics": {"throughput": throughput}}
               for number, at, throughput in ((1, 50, 10), (2, 100, 20), (3, 101, 30))]
        self.assertEqual(hunt.best(own, 100)["number"], 2)

    def test_a_library_that_fails_is_told_and_not_for_ever(self):
        class Broken:
            def propose(self, own, known):
                raise ValueError("not positive definite\nmore")

        class Drawn:
            def propose(self, own, known):
                return {"a": 1}

        found, remark = hunt.proposed(Broken(), Drawn(), [], {})
        self.assertEqual(found, {"a": 1})
        self.assertEqual(remark, {"fallback": "ValueError: not positive definite"})
        own = [{"metrics": {}, **remark}] * 3
        hunt.check("single-task", "s", own[:2])
        with self.assertRaisesRegex(MethodFailure, "3 times in a row"):
            hunt.check("single-task", "s", own)
        with self.assertRaisesRegex(MethodFailure, "the first 5 trials"):
            hunt.check("random", "s", [{"failure": "x"}] * 5)

    def test_libraries_are_wanted_only_by_their_methods(self):
        self.assertEqual(install.missing(["dremel", "random"]), [])
        with self.assertRaisesRegex(Failure, "no method x"):
            proposers.proposer("x", None, 1)


if __name__ == "__main__":
    unittest.main()
