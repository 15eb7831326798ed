"""Judgements, tables and pictures of records."""

import unittest
import xml.etree.ElementTree

from testing import all_records, final, reading, subject
import judge
import picture
import report
import studies
import tables


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

    def test_db_bench_is_ranked_with_the_memory_of_the_others(self):
        (study,) = studies.extras()["db-bench"]
        held = [{**final(contender, turn, base + turn), "study": study.name,
                 "subject": study.subject}
                for contender, base in (("dremel", 500), ("guide", 400), ("db-bench", 450),
                                        ("db-bench-unscaled", 900)) for turn in range(3)]
        self.assertEqual(judge.ranks(held, study.contenders),
                         {"dremel": 1, "db-bench": 2, "guide": 3})
        self.assertEqual(judge.of_method(held, study, held, "dremel"), "first")
        _, rows = tables.study_table(held, study)
        self.assertEqual([it[5] for it in rows if it[0] == "db-bench-unscaled"], ["outside"])

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

    def failed(self, contender, *rounds):
        """The same where a contender failed in some rounds, and again when tried once more."""
        found = []
        for it in self.finals:
            if it["contender"] == contender and it["round"] in rounds:
                it = {**it, "failure": "x"}
                it.pop("metrics")
                found.append(it)
            found.append(it)
        return found

    def test_a_rival_that_fails_is_behind(self):
        failed = self.failed("single-task", 2)
        self.assertEqual(judge.verdict(failed, self.study.contenders), "first")
        self.assertNotIn("single-task", judge.ranks(failed, self.study.contenders))
        everyone = self.failed("dremel", 1)
        for contender in ("random", "guide"):
            self.finals = everyone
            everyone = self.failed(contender, 0)
        self.assertEqual(judge.verdict(everyone, ("dremel", "random", "guide")),
                         "not comparable, for its rivals failed, too")

    def test_a_run_that_went_well_the_second_time_counts(self):
        first = {**self.finals[0], "failure": "x"}
        first.pop("metrics")
        self.assertEqual(first["contender"], "dremel")
        held = [first, *self.finals]
        self.assertEqual(judge.failed_rounds(held, "dremel"), set())
        self.assertEqual(judge.verdict(held, self.study.contenders),
                         "first, a tie with single-task")
        self.assertEqual(tables.failures(held), ["  dremel, round 1: x; run once more, it went "
                                                 "well"])

    def test_who_is_run_for_another_has_its_figures(self):
        runs = judge.runs_of(all_records(), self.study)
        self.assertEqual(judge.values(runs, "dremel@50%", "throughput"), [900, 910, 920])
        self.assertEqual(judge.after_half(runs, self.study), judge.AfterHalf(1, 1, 1, 1, 1))
        self.assertNotIn("dremel@50%", judge.ranks(runs, self.study.contenders))

    def after_half(self, half, last):
        early = [final("dremel@50%", turn, it, type="early") for turn, it in enumerate(half)]
        return judge.after_half([*early, *(final("dremel", turn, it)
                                           for turn, it in enumerate(last))], self.study)

    def test_what_is_level_after_half_of_the_time_is_told_by_the_medians(self):
        noisy = self.after_half([500, 900, 1000], [950, 1000, 1100])
        self.assertFalse(noisy.level, "though ranges meet")
        self.assertAlmostEqual(noisy.ratio, 0.9)
        self.assertAlmostEqual(noisy.least, 500 / 950)
        self.assertAlmostEqual(noisy.most, 1000 / 1100)
        self.assertTrue(self.after_half([950, 951, 952], [1000, 1001, 1002]).level,
                        "though ranges do not meet")
        self.assertIsNone(self.after_half([950, 951], [1000, 1001, 1002]), "too few rounds")
        self.assertIsNone(judge.after_half([], self.study))

    def test_every_setting_with_repeats_is_counted(self):
        wanted = [self.study, studies.main("double-get30"), studies.main("triple")]
        beginning = [{**it, "subject": "double-get30"} for it in self.finals if it["round"] < 2]
        held = all_records() + beginning
        text = tables.summary(held, wanted)
        self.assertIn("first in 0 of 2 settings, level with the first in 1, behind in 0, not "
                      "comparable in 1 (double-get30: too few rounds) (the paper", text)
        rivals = [{**it, "subject": "triple"} for it in self.finals
                  if it["contender"] != "dremel"]
        failed = 2 * [{"type": "failed", "subject": "triple", "method": "dremel",
                       "failure": "x"}]
        text = tables.summary(held + rivals + failed, wanted)
        self.assertIn("first in 0 of 3 settings, level with the first in 1, behind in 1, not",
                      text)
        self.assertEqual(tables.summary(beginning[:0], wanted), "No setting is complete.")

    def test_halving_compares_the_chosen_with_the_best_by_runs_of_their_own(self):
        def taken(contender, *throughputs):
            return [final(contender, turn, it) for turn, it in enumerate(throughputs)]

        chosen = taken("chosen", 90, 94, 95)
        alike = {**final("full-1", 0, 1), "as": "chosen"}
        alike.pop("metrics")
        luckiest = taken("full-2", 93, 95, 97)
        self.assertEqual(judge.halving([*chosen, alike, *luckiest]), (94, 95, "tie"))
        better = taken("full-3", 100, 101, 102)
        self.assertEqual(judge.halving([*chosen, *luckiest, *better]), (94, 101, "worse"))
        self.assertEqual(judge.halving([*chosen, alike]), (94, 94, "tie"))
        self.assertIsNone(judge.halving(luckiest))

    def test_single_runs_in_full_are_told_apart(self):
        held = [{"type": "found", "subject": "s", "method": "dremel", "number": 2},
                {"type": "full", "subject": "s", "number": 1, "metrics": {"throughput": 100}},
                {"type": "full", "subject": "s", "number": 2, "metrics": {"throughput": 95}},
                {"type": "full", "subject": "s", "number": 3, "failure": "x"}]
        self.assertEqual(judge.single_runs(held, "s"), (95, 100, 2))
        self.assertIsNone(judge.single_runs(held[:1], "s"))

    def test_a_search_for_both_is_judged_by_both(self):
        held = []
        for contender, base in (("dremel", 900), ("dremel-both", 700)):
            held += [final(contender, turn, base + turn) for turn in range(3)]
        # The latency is the inverse of the throughput.
        self.assertEqual(judge.both(held), [("operations/s", "worse"), ("get p99, ms", "worse")])

    def test_real_sessions_are_judged_by_their_seconds(self):
        study = studies.extras()["lissom"][0]

        def told(side, turn, **seconds):
            return {"type": "sessions", "study": "lissom", "subject": "lissom-settings",
                    "side": side, "round": turn, "seconds": seconds}

        held = [told("given", 0, **{"fixed-1": [50], "learned": [44]}),
                told("found", 0, found=[40]),
                told("given", 1, **{"fixed-1": [50, 51, 52], "learned": [44, 45, 46]}),
                told("found", 1, **{"found": [40, 41, 42], "found and learned": [42, 44, 45]})]
        found = judge.real_sessions(held, study)
        self.assertEqual(found["learned"], [44, 45, 46])
        text = tables.render([{"type": "plan"}, *held], [study])
        for words in ["found against learned: better", "found and learned against learned: tie",
                      "found against fixed-1: better", "1.10"]:
            self.assertIn(words, text)
        self.assertIn("not measured", tables.render([{"type": "plan"}], [study]))


class Report(unittest.TestCase):
    def setUp(self):
        self.wanted = [studies.main("ycsb-a"), studies.halving("ycsb-a")]

    def test_the_text_has_the_table_and_the_claims(self):
        library = [{"type": "library", "name": "botorch", "version": "0.13.0"},
                   {"type": "environment", "python": "3.11.7", "packages": ["torch==2.6.0+cpu"]}]
        text = tables.render([*all_records(), *library], self.wanted)
        for words in ["first in 0 of 1 settings, level with the first in 1",
                      "2.27 times the guide, in ycsb-a", "outside",
                      "after half of its budget dremel was level with what it found at last: 100.0%",
                      "under Python 3.11.7: torch==2.6.0+cpu",
                      "dremel: first, a tie with single-task", "not measured",
                      "libraries: botorch 0.13.0", "Each method has searched once"]:
            self.assertIn(words, text)

    def test_a_shorter_run_and_what_was_not_alike_are_said(self):
        plan = {"type": "plan", "evaluation": 7.5, "budget": 900, "setups": 32, "rounds": 3, "seed": 1,
                "planned": {"evaluation": 30, "budget": 900}}
        more = [{"type": "program", "sha256": it} for it in "ab"]
        more.append({"type": "trial", "subject": "ycsb-a", "method": "single-task", "number": 9,
                     "fallback": "ValueError: x"})
        text = tables.render([plan, *all_records()[1:], *more], self.wanted)
        self.assertIn("full evaluations of 7.5 s, 900 s and 32 set-ups for each method", text)
        self.assertIn("A SHORTER RUN: 25% of the planned time of an evaluation.", text)
        self.assertIn("2 builds of the program", text)
        self.assertIn("single-task drew 1 of its trials", text)
        plan["evaluation"] = 30
        self.assertNotIn("SHORTER", tables.render([plan, *all_records()[1:]], self.wanted))

    def test_what_is_of_several_boots_is_counted(self):
        held = [{**it, "boot": "a"} for it in all_records()]
        self.assertNotIn("BOOTS", tables.render(held, self.wanted))
        held[-1]["boot"] = "b"
        held.append({"type": "machine", **held[1], "boot": "b"})
        text = tables.render(held, self.wanted)
        self.assertIn("main: ycsb-a\n\n  MEASURED UNDER 2 BOOTS", text)
        self.assertEqual(text.count("BOOTS"), 1, "halving is of one")
        self.assertIn("under 2 boots of a machine", text)
        self.assertEqual(text.count("24 GiB"), 1)

    def test_trials_that_ran_once_for_several_are_told(self):
        held = all_records()
        for it in held:
            if it["type"] == "trial" and it["method"] == "single-task" and it["number"] < 3:
                it["shared"] = "random"
        self.assertIn("single-task begins with the same 2 trials as random",
                      tables.render(held, self.wanted))

    def test_pictures_are_whole_and_need_nothing_else(self):
        held = all_records()
        for drawing in (picture.searches(held, self.wanted[0], subject("ycsb-a")),
                        picture.running(held, "ycsb-a"),
                        picture.searches(held[:2], self.wanted[0], subject("ycsb-a")),
                        picture.running(held[:2], "ycsb-a"),
                        picture.in_full(held[:2], "ycsb-a")):
            xml.etree.ElementTree.fromstring(drawing)
            self.assertNotIn("nan", drawing)
            self.assertNotIn("href", drawing)

    def test_a_page_of_a_beginning(self):
        known = {"ycsb-a": subject("ycsb-a")}
        text = report.page(all_records()[:2], self.wanted, known, [studies.main("ycsb-b")])
        self.assertIn("No setting is complete", text)
        self.assertIn("Not measured at all: main ycsb-b.", text)
        self.assertIn("<svg", report.page(all_records(), self.wanted, known))

    def test_who_has_not_searched_is_named(self):
        held = [it for it in all_records() if it.get("method") != "multi-task"
                and not it.get("contender", "").startswith("multi-task")]
        self.assertIn("multi-task has not searched\n", tables.render(held, self.wanted))
        held.append({"type": "trial", "subject": "ycsb-a", "method": "multi-task", "number": 1})
        self.assertIn("multi-task has not searched to its end", tables.render(held, self.wanted))
        self.assertNotIn("not searched", tables.render(all_records(), self.wanted[:1]))

    def test_half_of_the_time_is_compared_with_all_of_it(self):
        text = tables.summary(all_records(), self.wanted[:1])
        # It was the same, and the best.
        self.assertIn("in 1 of 1 settings", text)
        self.assertIn("100%\nagainst 100%", text)
        wanted = [self.wanted[0], studies.main("double-get30")]
        other = [{**it, "subject": "double-get30"} for it in all_records()
                 if it.get("contender") != "dremel@50%"]
        other += [{**final("dremel@50%", turn, 455 + turn, type="early"),
                   "subject": "double-get30"} for turn in range(3)]
        text = tables.summary(all_records() + other, wanted)
        self.assertIn("in 1 of 2 settings", text)
        # Of 100 and 50.2 %.
        self.assertIn("75%\nagainst 100%", text)
        self.assertNotIn("after half", tables.summary(other[:-1], wanted[1:]), "too few rounds")


class Buckets(unittest.TestCase):
    """More of them have more time, and are compared in the same, too."""

    def setUp(self):
        (self.study,) = studies.extras()["four-buckets"]
        two, three, four = self.study.methods
        self.held = [{"type": "plan"}]
        for contender, base in ((two, 900), (studies.in_time_of(three, two), 905),
                                (three, 950), (studies.in_time_of(four, two), 800), (four, 1000),
                                ("guide", 400)):
            kind = "early" if "@" in contender else "final"
            self.held += [{**final(contender, turn, base + 10 * turn), "type": kind,
                           "study": self.study.name, "subject": self.study.subject}
                          for turn in range(3)]
        for method, at in zip(self.study.methods, (1000, 3000, 9000)):
            where = {"subject": self.study.subject, "method": method}
            self.held += [{"type": "trial", **where, "number": number, "configuration": {},
                           **reading(second, 30, 500 + number)}
                          for number, second in enumerate((100, at), 1)]
            self.held.append({"type": "found", **where, "number": 2, "spent": at,
                              "configuration": {}})

    def test_one_table_tells_whether_more_of_them_help(self):
        three, four = judge.in_time_of(judge.runs_of(self.held, self.study), self.study)
        self.assertEqual([three[1][1], three[2][1]], ["tie", "better"])
        self.assertEqual([four[1][1], four[2][1]], ["worse", "better"])
        self.assertAlmostEqual(four[2][0], 1010 / 910)
        text = tables.render(self.held, [self.study])
        self.assertRegex(text, r"dremel-3-buckets +915 ±10 +1\.01 +tie +960 ±10 +1\.05 +better")
        self.assertRegex(text, r"dremel-4-buckets +810 ±10 +0\.89 +worse +1,010 ±10 +1\.11")
        self.assertNotIn("dremel-2-buckets: behind", text, "it had less time")

    def test_their_searches_are_drawn_each_to_its_end(self):
        own = subject(self.study.subject)
        drawing = picture.searches(self.held, self.study, own)
        tree = xml.etree.ElementTree.fromstring(drawing)
        lines = [it for it in tree.iter() if it.tag.endswith("polyline")]
        ends = [float(it.get("points").split()[-1].split(",")[0]) for it in lines]
        budgets = [studies.budget(it, own) for it in self.study.methods]
        frame = picture.Frame(budgets[-1], 1)
        self.assertEqual(ends, [round(frame.x(it), 1) for it in budgets])
        self.assertEqual(len({it.get("stroke") for it in lines}), 3)
        # Three that were found at last, and what led two of them early.
        self.assertEqual(drawing.count("<circle"), 5)
        page = report.page(self.held, [self.study], {self.study.subject: own})
        self.assertEqual(page.count("<svg"), 1)


if __name__ == "__main__":
    unittest.main()
