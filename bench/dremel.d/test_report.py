"""Judgements, tables and pictures of records."""

import unittest
import xml.etree.ElementTree

from testing import all_records
import judge
import picture
import report
import studies


class Judge(unittest.TestCase):
    def setUp(self):
        self.study = studies.main("ycsb-a")
        self.finals = [it for it in all_records() if it["type"] == "final"]

    def test_ranges_that_meet_are_a_tie(self):
        self.assertEqual(judge.standing([4, 5, 6], [1, 2, 3]), "better")
        self.assertEqual(judge.standing([1, 2, 3], [4, 5, 6]), "worse")
        self.assertEqual(judge.standing([1, 2, 3], [3, 4, 5]), "tie")
        self.assertEqual(judge.standing([1], [9]), "too few")

    def test_ties_share_a_rank_and_more_memory_has_none(self):
        ranks = judge.ranks(self.finals, self.study.contenders)
        self.assertEqual(ranks["dremel"], 1)
        self.assertEqual(ranks["single-task"], 1)
        self.assertEqual(ranks["multi-task"], 3)
        self.assertNotIn("rocksdb-unscaled", ranks)

    def test_verdicts(self):
        self.assertEqual(judge.verdict(self.finals, self.study.contenders),
                         "first, a tie with single-task")
        self.assertEqual(judge.verdict(self.finals, ("dremel", "random")), "first")
        self.assertEqual(judge.verdict(self.finals, self.study.contenders, "random"),
                         "behind dremel, single-task, multi-task (-22 %)")
        self.assertEqual(judge.verdict(self.finals[:1], ("dremel",)), "nobody to compare with")
        self.assertAlmostEqual(judge.gain(self.finals, "dremel", "guide"), 910 / 401)

    def test_who_fails_where_others_do_not_is_behind(self):
        failed = [{**it, "failure": "x"} if it["contender"] == "dremel" and it["round"] == 1
                  else it for it in self.finals]
        for it in failed:
            if "failure" in it:
                it.pop("metrics")
        self.assertEqual(judge.verdict(failed, self.study.contenders),
                         "behind, for it failed in 1 of 3 rounds")
        others = [it for it in self.finals if it["contender"] != "dremel"]
        self.assertEqual(judge.verdict(others, self.study.contenders, gave_up=True),
                         "behind, for its search failed")
        self.assertEqual(judge.verdict(others, self.study.contenders), "not measured")
        self.assertEqual(judge.verdict([], self.study.contenders, gave_up=True),
                         "nobody to compare with")

    def test_every_setting_with_repeats_is_counted(self):
        wanted = [self.study, studies.main("double-get30"), studies.main("triple")]
        beginning = [{**it, "subject": "double-get30"} for it in self.finals if it["round"] < 2]
        held = all_records() + beginning
        text = judge.summary(held, wanted)
        self.assertIn("first in 0 of 2 settings, level with the first in 1, behind in 0, not "
                      "comparable in 1 (double-get30: too few rounds) (the paper", text)
        rivals = [{**it, "subject": "triple"} for it in self.finals
                  if it["contender"] != "dremel"]
        failed = 2 * [{"type": "failed", "subject": "triple", "method": "dremel",
                       "failure": "x"}]
        text = judge.summary(held + rivals + failed, wanted)
        self.assertIn("first in 0 of 3 settings, level with the first in 1, behind in 1, not",
                      text)
        self.assertEqual(judge.summary(beginning[:0], wanted), "No setting is complete.")

    def test_halving_compares_the_chosen_with_the_best(self):
        held = [{"type": "found", "subject": "s", "method": "dremel", "number": 2},
                {"type": "full", "subject": "s", "number": 1, "metrics": {"throughput": 100}},
                {"type": "full", "subject": "s", "number": 2, "metrics": {"throughput": 95}}]
        self.assertEqual(judge.halving(held, "s"), (95, 100, 0.95))
        self.assertIsNone(judge.halving(held[:1], "s"))


class Report(unittest.TestCase):
    def setUp(self):
        self.wanted = [studies.main("ycsb-a"), *studies.extras(["ycsb-a"])["halving"]]

    def test_the_text_has_the_table_and_the_claims(self):
        text = judge.render(all_records(), self.wanted)
        for words in ["first in 0 of 1 settings, level with the first in 1",
                      "2.27 times the guide, in ycsb-a", "outside", "25% of the time",
                      "dremel: first, a tie with single-task", "not measured"]:
            self.assertIn(words, text)

    def test_a_shorter_run_and_what_was_not_alike_are_said(self):
        plan = {"type": "plan", "evaluation": 7.5, "budget": 900, "rounds": 3, "seed": 1,
                "planned": {"evaluation": 30, "budget": 900}}
        more = [{"type": "program", "sha256": it} for it in "ab"]
        more.append({"type": "trial", "subject": "ycsb-a", "method": "single-task", "number": 9,
                     "fallback": "ValueError: x"})
        text = judge.render([plan, *all_records()[1:], *more], self.wanted)
        self.assertIn("full evaluations of 7.5 s, 900 s for each method", text)
        self.assertIn("A SHORTER RUN: 25% of the planned time of an evaluation.", text)
        self.assertIn("2 builds of the program", text)
        self.assertIn("single-task drew 1 of its trials", text)
        plan["evaluation"] = 30
        self.assertNotIn("SHORTER", judge.render([plan, *all_records()[1:]], self.wanted))

    def test_pictures_are_whole_and_need_nothing_else(self):
        held = all_records()
        for drawing in (picture.searches(held, self.wanted[0], 900),
                        picture.running(held, "ycsb-a"),
                        picture.searches(held[:2], self.wanted[0], 900),
                        picture.running(held[:2], "ycsb-a")):
            xml.etree.ElementTree.fromstring(drawing)
            self.assertNotIn("nan", drawing)
            self.assertNotIn("href", drawing)

    def test_a_page_of_a_beginning(self):
        self.assertIn("No setting is complete", report.page(all_records()[:2], self.wanted,
                                                            {"ycsb-a": 900}))
        self.assertIn("<svg", report.page(all_records(), self.wanted, {"ycsb-a": 900}))


if __name__ == "__main__":
    unittest.main()
