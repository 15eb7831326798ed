"""What is planned, and how long it takes."""

import re
import unittest
from pathlib import Path

import testing  # says where the modules lie
import campaign
import contenders
import held
import hunt
import proposers
import searching
import settings
import stretches
import studies
import subjects
from failure import Failure


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
        # Seven by turns, and RocksDB's defaults as they are in one round.
        self.assertEqual([kinds.count(it) for it in ("hunt", "early", "final")], [4, 3, 19])
        outside = [it.number for it in steps if it.name == studies.UNSCALED]
        self.assertEqual(outside, [0])
        # Two rivals begin with five trials of the third.
        whole = 4 * 721 - 2 * 5 * 33 + 22 * 33
        self.assertEqual(held.seconds_left(steps, {}), whole)
        spent = {("double-get30", "random"): 400.0, ("double-get30", "dremel"): 9999.0}
        self.assertEqual(held.seconds_left(steps, spent), whole - 400 - 721)
        self.assertEqual(len(held.unique(steps + steps)), len(steps))
        self.assertEqual(studies.moment_of("dremel@50%"), ("dremel", "50%"))
        self.assertEqual(studies.moment_of("guide"), ("guide", None))
        self.assertEqual([studies.seconds_of(it, self.subject()) for it in
                          ("dremel", "dremel@50%")], [721, 360.5])

    def test_what_was_spent_is_what_was_run(self):
        where = {"type": "trial", "subject": "s"}
        trials = [{**where, "method": "random", "number": number, "at": 30.0 * number}
                  for number in (1, 2, 3)]
        alike = [{**it, "method": "single-task", "shared": "random"} for it in trials[:2]]
        own = {**where, "method": "single-task", "number": 3, "at": 95.0}
        self.assertEqual(held.spent([*trials, *alike, own]),
                         {("s", "random"): 90, ("s", "single-task"): 35})

    def test_what_is_of_one_setting_follows_each_other(self):
        found = studies.choose(["main", "both", "halving"],
                               ["initial-get30-skew03", "preloaded-get60", "nutanix"],
                               studies.METHODS)
        self.assertEqual([(it.name, it.subject) for it in found],
                         [("main", "initial-get30-skew03"), ("halving", "initial-get30-skew03"),
                          ("main", "preloaded-get60"), ("both", "preloaded-get60"),
                          ("main", "nutanix")])

    def test_rivals_share_first_trials_but_none_that_failed(self):
        class Held:
            def __init__(self, found):
                self.found = found

            def all(self, **same):
                return [{**same, "method": "random", **self.found}]

        own = {"type": "trial", "subject": "s", "method": "single-task", "number": 1,
               "configuration": {"a": 1}}
        measured = {"metrics": {"throughput": 1}}
        self.assertEqual(hunt.alike(Held(measured), own)["metrics"], measured["metrics"])
        self.assertIsNone(hunt.alike(Held({"failure": "no"}), own))
        self.assertIsNone(hunt.alike(Held({**measured, "method": "dremel"}), own))
        self.assertIsNone(hunt.alike(Held(measured), {**own, "number": proposers.FIRST + 1}))

    def test_who_goes_first_does_not_hang_on_what_else_is_asked_for(self):
        chosen = settings.chosen()["chosen"]
        together = studies.choose(["main"], chosen, studies.METHODS)
        alone = [studies.choose(["main"], [it], studies.METHODS)[0] for it in chosen]
        self.assertEqual(alone, together)
        firsts = [it.methods[0] for it in together]
        self.assertEqual(set(firsts), set(studies.METHODS))

    def test_boots_of_what_is_compared_are_known(self):
        subject = {"subject": "preloaded-get60"}
        main, (both,) = studies.main("preloaded-get60"), studies.extras()["both"]
        records = [{"type": "machine", "boot": "x"}, {"type": "prepared", **subject, "boot": "x"},
                   {"type": "trial", **subject, "method": "random", "boot": "a"},
                   {"type": "trial", "subject": "s", "method": "dremel", "boot": "c"},
                   {"type": "final", **subject, "study": "both", "boot": "b"}]
        self.assertEqual([held.boots(records, it) for it in (main, both)], [{"a"}, {"b"}])
        records.append({"type": "trial", **subject, "method": "dremel", "boot": "a"})
        self.assertEqual(held.boots(records, both), {"a", "b"}, "it takes the search of the other")

    def test_slots_hold_what_cannot_be_split(self):
        subject = self.subject()
        known = {subject.name: subject}
        steps = studies.steps(studies.main("double-get30"), subject, 3)
        (whole,) = stretches.slots(steps, known, 2 * 3600)
        self.assertEqual([step for step, _ in whole], steps)
        found = stretches.slots(steps, known, 1200)
        self.assertEqual(sum(seconds for slot in found for _, seconds in slot),
                         sum(it.seconds for it in steps))
        for slot in found:
            self.assertLessEqual(sum(seconds for _, seconds in slot), 1200)
            for step, seconds in slot:
                if step.kind == "hunt" and step.name == "dremel":
                    self.assertEqual(seconds, 721)
        rounds = [{step.number for step, _ in slot if step.kind == "final"} for slot in found]
        self.assertEqual(sorted(number for slot in rounds for number in slot), [0, 1, 2])
        longest = max(stretches.stretches(steps, known))
        self.assertEqual(longest, 721 + stretches.ENDING + stretches.PREPARING)

    def test_what_fits_into_no_slot_holds_up_what_needs_it_and_nothing_else(self):
        subject = self.subject()
        known = {subject.name: subject}
        extras = studies.extras()
        steps = [step for study in (*extras["buckets"], *extras["four-buckets"])
                 for step in studies.steps(study, subject, 3)]
        steps = held.unique(steps)
        long, waiting = stretches.held_up(steps, known, 140 * 60)
        self.assertEqual([it.name for it in long], ["dremel-4-buckets"])
        self.assertEqual({it.study for it in waiting}, {"four-buckets"})
        # Of each round four contenders, and what led two of them early.
        self.assertEqual(len(waiting), 3 * 6)
        self.assertEqual(len(campaign.passed_over(long, known, 140 * 60)), 1)
        self.assertEqual(stretches.held_up(steps, known, float("inf")), ([], []))
        main = studies.steps(studies.main("double-get30", ("dremel", "random")), subject, 1)
        # The round of six runs takes 198 s, a search more.
        long, waiting = stretches.held_up(main, known, 190)
        self.assertEqual([it.name for it in long if it.kind == "hunt"], ["dremel"])
        self.assertEqual({it.kind for it in [*long, *waiting]}, {"hunt", "final", "early"})
        self.assertEqual([it.name for it in main if it not in [*long, *waiting]], ["random"])
        self.assertEqual(len(campaign.passed_over(long, known, 190)), 2)

    def test_who_fails_twice_is_left_out_until_it_is_tried_again(self):
        steps = studies.steps(studies.main("double-get30"), self.subject(), 1)
        failed = {"type": "failed", "subject": "double-get30", "method": "dremel"}
        names = lambda records: {it.name for it in held.left(steps, records)}
        self.assertIn("dremel", names([failed]))
        self.assertTrue(names([failed, failed]).isdisjoint({"dremel", "dremel@50%"}))
        self.assertIn("dremel", names([failed, failed, {"type": "retry"}]))
        found = {"type": "found", "subject": "double-get30", "method": "dremel"}
        kinds = {it.kind for it in held.left(steps, [failed, failed, found])
                 if it.name.startswith("dremel")}
        self.assertEqual(kinds, {"early", "final"})

    def test_a_run_that_failed_is_made_once_more(self):
        steps = studies.steps(studies.main("double-get30"), self.subject(), 1)
        failed = {"type": "final", "subject": "double-get30", "study": "main", "round": 0,
                  "contender": "guide", "failure": "x"}
        wanted = lambda *records: "guide" in {it.name for it in held.left(steps, records)}
        self.assertTrue(wanted(failed))
        self.assertFalse(wanted(failed, failed))
        self.assertFalse(wanted({**failed, "lasting": True}), "it could come to nothing else")
        went_well = {**failed, "metrics": {}}
        went_well.pop("failure")
        self.assertFalse(wanted(went_well))

    def test_the_same_search_serves_several_studies(self):
        extra = studies.extras()["both"][0]
        subject = testing.subject(extra.subject)
        steps = studies.steps(extra, subject, 3)
        self.assertIn(studies.steps(studies.main(extra.subject), subject, 3)[0], steps)

    def test_features_are_told_by_searches_of_equal_times(self):
        (study,) = studies.extras()["features"]
        steps = studies.steps(study, self.subject(), 3)
        hunts = [it for it in steps if it.kind == "hunt"]
        self.assertEqual({round(it.seconds) for it in hunts}, {481})
        self.assertEqual([it.name for it in hunts], list(study.contenders))
        self.assertEqual(searching.VARIANTS["dremel-with-all"], searching.VARIANTS["dremel"])

    def test_buckets_have_the_time_of_all_their_arms(self):
        subject = self.subject()
        # 32 trials for 15 s and 3 s of set-up, 16 for 20 s, 8 for 25 s; then 97, 49, 25.
        self.assertAlmostEqual(studies.budget("dremel-2-buckets", subject),
                               32 * 18 + 16 * 23 + 8 * 28)
        self.assertAlmostEqual(studies.budget("dremel-3-buckets", subject),
                               97 * 18 + 49 * 23 + 25 * 28)
        self.assertEqual(studies.budget("dremel", subject), 721)
        study = studies.extras()["buckets"][0]
        self.assertEqual(study.own, "dremel-2-buckets")
        self.assertEqual(study.points, ("dremel-3-buckets@dremel-2-buckets",))
        (all_three,) = studies.extras()["four-buckets"]
        self.assertEqual(all_three.methods, tuple(studies.BUCKETS), "one table of three")
        shortest = studies.budget("dremel-2-buckets", subject)
        self.assertEqual({studies.seconds_of(it, subject) for it in all_three.points}, {shortest})
        self.assertEqual(all_three.moments("dremel-2-buckets"), ["dremel-2-buckets"])
        self.assertEqual(all_three.moments("dremel-4-buckets"),
                         ["dremel-4-buckets@dremel-2-buckets", "dremel-4-buckets"])
        kinds = {it.name: it.kind for it in studies.steps(all_three, subject, 1)}
        self.assertEqual(kinds["dremel-4-buckets@dremel-2-buckets"], "early")
        self.assertEqual(studies.main("double-get30", turn=1).own, "dremel")
        for number, method in enumerate(studies.BUCKETS, 2):
            self.assertEqual(searching.VARIANTS[method],
                             ["--as-published", "--buckets", str(number), "--restart"])

    def test_what_is_measured_as_dremel_is_as_it_was_published(self):
        for method, words in searching.VARIANTS.items():
            self.assertEqual(method.startswith("dremel"), "--as-published" in words, method)
        self.assertEqual({it.own for it in studies.extras()["search"]}, {"search"})

    def test_each_command_of_the_plan_fits_into_a_slot_of_138_minutes(self):
        sizes, table = settings.load()
        known = {it.name: subjects.of_setting(it, sizes, Path("/d"), "/l") for it in table.values()}
        for make in (subjects.of_lissom, subjects.of_db_bench):
            known[make(sizes, Path("/d"), "/l").name] = make(sizes, Path("/d"), "/l")
        plan = (Path(settings.TABLE).parents[2] / "PLAN.md").read_text()
        commands = re.findall(r"`bench/dremel run --settings ([a-z0-9 -]+?) --studies ([a-z -]+?) "
                              r"--until 138`", plan)
        places = [it for settings_of, _ in commands for it in settings_of.split()]
        self.assertEqual(sorted(places), sorted(settings.chosen()["chosen"]), "each once, whole")
        for settings_of, names in commands:
            found = studies.choose(names.split(), settings_of.split(), studies.METHODS)
            steps = held.unique([step for study in found
                                 for step in studies.steps(study, known[study.subject], 3)])
            self.assertEqual(stretches.held_up(steps, known, 138 * 60), ([], []))
            self.assertEqual(len(stretches.slots(steps, known, 138 * 60)), 1, settings_of)

    def test_everything_that_is_planned_is_known(self):
        sizes, table = settings.load()
        known = {it.name: subjects.of_setting(it, sizes, Path("/d"), "/l") for it in table.values()}
        for make in (subjects.of_lissom, subjects.of_db_bench):
            known[make(sizes, Path("/d"), "/l").name] = make(sizes, Path("/d"), "/l")
        found = studies.choose(["every"], list(table)[:3], studies.METHODS)
        halved = [it.subject for it in found if it.in_full]
        self.assertEqual(halved, [studies.HALVED], "whatever settings are asked for")
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

    def test_db_benchs_defaults_shrink_with_the_memory_too(self):
        sizes, _ = settings.load()
        subject = subjects.of_db_bench(sizes, Path("/d"), "/l")
        (study,) = studies.extras()["db-bench"]
        text = lambda it: contenders.text([], None, it, subject)
        flags = text(studies.DB_BENCH).split()
        self.assertEqual(flags, ["--write_buffer_size=4194304",
                                 "--max_bytes_for_level_base=16777216",
                                 "--target_file_size_base=4194304", "--cache_size=524288",
                                 "--cache_numshardbits=2"])
        # Two buffers, all of them that db_bench has, and the cache.
        self.assertLess(2 * (4 << 20) + (512 << 10), subject.constants["memory"])
        self.assertIn("--cache_size=8388608\n--cache_numshardbits=6\n",
                      text(studies.DB_BENCH_UNSCALED))
        self.assertEqual(set(study.contenders) & set(studies.OUTSIDE),
                         {studies.DB_BENCH_UNSCALED})

    def test_times_are_told_in_a_unit(self):
        self.assertEqual([studies.duration(it) for it in (30, 300, 7200)],
                         ["30 s", "5 min", "2.0 h"])


if __name__ == "__main__":
    unittest.main()
