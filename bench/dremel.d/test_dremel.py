"""The pure parts, and a whole campaign around a stand-in for `lissom`."""

import json
import math
import os
import queue
import random
import sys
import tempfile
import tomllib
import unittest
import xml.etree.ElementTree
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.with_name("common.d"))]

import campaign
import curves
import encode
import hunt
import install
import judge
import picture
import proposers
import records
import report
import searching
import settings
import studies
import subjects
import tasks
import trial
from failure import Failure
from result_file import matching

TOY = Path(__file__).with_name("toy.py")


class Table(unittest.TestCase):
    def setUp(self):
        self.sizes, self.settings = settings.load()

    def test_there_are_the_papers_18(self):
        self.assertEqual(len(self.settings), 18)
        groups = [it.group for it in self.settings.values()]
        self.assertEqual([groups.count(it) for it in settings.GROUPS], [9, 3, 3, 3])
        initial = {(it.get, it.skew) for it in self.settings.values() if it.group == "initial"}
        self.assertEqual(initial, {(get, skew) for get in (30, 60, 90) for skew in (0.3, 0.6, 0.9)})

    def test_six_are_chosen_over_all_groups(self):
        chosen = settings.select(self.settings, ["chosen"])
        self.assertEqual(len(chosen), 6)
        self.assertEqual({it.group for it in chosen}, set(settings.GROUPS))
        self.assertEqual(len(settings.select(self.settings, ["chosen", "all"])), 18)
        with self.assertRaisesRegex(Failure, "no setting x"):
            settings.select(self.settings, ["x"])

    def test_sizes_are_in_proportion(self):
        self.assertEqual((self.sizes.memory, self.sizes.evaluation), (64 << 20, 30))
        self.assertEqual(self.sizes.budget, 900)
        first, double = self.settings["initial-get30-skew03"], self.settings["ycsb-a"]
        self.assertEqual((first.bandwidth, double.bandwidth), (25_000_000, 50_000_000))
        self.assertEqual((first.entries, self.settings["nutanix"].entries), (400_000, 998_000))

    def test_workloads_are_toml(self):
        for setting in self.settings.values():
            workload = tomllib.loads(setting.workload())
            self.assertEqual(workload["name"], setting.name)
            session = workload["session"][0]
            self.assertEqual(sum(session["mix"].values()), 100)
            self.assertEqual(session["keys"]["zipf"]["theta"], setting.skew)
            self.assertEqual(workload["fill"]["share"], 1 if setting.preloaded else 0.01)
        nutanix = tomllib.loads(self.settings["nutanix"].workload())
        self.assertEqual(nutanix["session"][0]["mix"], {"get_present": 57, "update": 41, "scan": 2})

    def test_times_may_be_shorter_but_not_for_nothing(self):
        self.assertEqual(settings.with_times(self.sizes, None, None, 0.1).evaluation, 3)
        with self.assertRaisesRegex(Failure, "give more by --budget"):
            settings.with_times(self.sizes, 100, 300, 1)

    def test_a_reason_changes_no_fingerprint(self):
        text = settings.TABLE.read_text()
        with tempfile.TemporaryDirectory() as directory:
            other = Path(directory) / "settings.toml"
            other.write_text(text.replace("most writes", "fewest reads"))
            self.assertEqual(settings.fingerprint(other), settings.fingerprint())
            other.write_text(text.replace("skew = 0.3", "skew = 0.4", 1))
            self.assertNotEqual(settings.fingerprint(other), settings.fingerprint())


PARAMETERS = [
    {"name": "whole", "kind": {"integer": {"min": 2, "max": 16, "spacing": {"linear": 1}}}},
    {"name": "block", "kind": {"integer": {"min": 2048, "max": 16384, "spacing": {"log": 4}}}},
    {"name": "bits", "kind": {"float": {"min": 0, "max": 1, "spacing": {"linear": 0.25}}}},
    {"name": "held", "kind": {"integer": {"min": 10, "max": 10, "spacing": {"linear": 1}}}},
    {"name": "word", "kind": {"choice": ["x", "y", "z"]}},
    {"name": "flag", "kind": "boolean"},
]
CONFIGURATION = {"whole": 9, "block": 4096, "bits": 0.25, "held": 10, "word": "y", "flag": True}


class Encode(unittest.TestCase):
    def test_grids(self):
        self.assertEqual([encode.count(it) for it in PARAMETERS], [15, 4, 5, 1, 3, 2])
        self.assertEqual([encode.at(PARAMETERS[1], it) for it in range(4)],
                         [2048, 4096, 8192, 16384])
        for parameter in PARAMETERS:
            for place in range(encode.count(parameter)):
                self.assertEqual(encode.place(parameter, encode.at(parameter, place)), place)

    def test_vectors_leave_out_what_is_held(self):
        found = encode.vector(PARAMETERS, CONFIGURATION)
        self.assertEqual(found, [0.5, 1 / 3, 0.25, 0.0, 1.0, 0.0, 1.0])

    def test_neighbours_differ_in_one_or_two(self):
        for near in encode.neighbours(PARAMETERS, CONFIGURATION, random.Random(1), 50):
            differ = [name for name in CONFIGURATION if near[name] != CONFIGURATION[name]]
            self.assertIn(len(differ), (1, 2))
            self.assertNotIn("held", differ)


def measured(throughput, **more):
    return {"metrics": {"throughput": throughput, **more}, "configuration": {}}


class Tasks(unittest.TestCase):
    def test_failures_count_as_the_worst(self):
        goals = tasks.goals([measured(100), {"failure": "x", "configuration": {}}, measured(1000)])
        self.assertEqual(goals[0], goals[1])
        self.assertGreater(goals[2], goals[0])
        self.assertEqual(tasks.goals([measured(5)]), [0.0])

    def test_parts_and_other_settings_are_tasks(self):
        own = [measured(100, get_p99_micros=10), measured(200, get_p99_micros=5)]
        others = {"b": [measured(it + 1) for it in range(100)], "c": [measured(1)]}
        rows = tasks.rows(own, others)
        self.assertEqual(sorted({task for task, _, _ in rows}), [0, 1, 2])
        self.assertEqual(sum(task == 2 for task, _, _ in rows), tasks.MOST)
        part = [goal for task, _, goal in rows if task == 1]
        self.assertLess(part[0], part[1])
        self.assertTrue(math.isclose(sum(part), 0, abs_tol=1e-9))


class Trials(unittest.TestCase):
    def test_samples_are_put_together(self):
        gauge = trial.Gauge()
        gauge.take({"throughput": 100, "seconds": 1, "memory_bytes": 5, "p99_micros": 9,
                    "cumulative": ["p99_micros"]}, 1)
        gauge.take({"throughput": 400, "seconds": 2, "memory_bytes": 3, "p99_micros": 4,
                    "cumulative": ["p99_micros"], "word": "x"}, 3)
        self.assertEqual(gauge.metrics(),
                         {"throughput": 300, "p99_micros": 4, "memory_bytes": 5})
        self.assertEqual(gauge.series, [[1, 100], [3, 400]])

    def follow(self, said, step=0.4):
        """What follows from lines that come each `step` seconds."""
        lines, now = queue.Queue(), 0.0
        for at, line in enumerate(said):
            lines.put((at * step, line if line is None else json.dumps(line)))

        def clock():
            nonlocal now
            now += step
            return now

        return trial.follow(lines, 1, 100, clock)

    def test_a_trial_is_heard_out(self):
        sample = {"throughput": 50, "seconds": 0.4}
        found = self.follow([{"ready": True}] + [sample] * 9)
        self.assertEqual(found["metrics"], {"throughput": 50})
        self.assertGreaterEqual(found["seconds"], 1)

    def test_failures_are_told_apart(self):
        self.assertEqual(self.follow([{"error": "cannot open"}])["failure"], "cannot open")
        self.assertEqual(self.follow([{"ready": True}, None])["failure"], "")
        fat = self.follow([{"ready": True}, {"throughput": 1, "memory_bytes": 1000}])
        self.assertIn("are allowed", fat["failure"])
        self.assertIn("no sample came", self.follow([{"ready": True}], step=6)["failure"])
        self.assertIsNone(trial.parsed("words for people"))

    def test_places_are_filled(self):
        words = trial.filled(["p", "--at={directory}/x", "{options}"], directory="/d", options="o")
        self.assertEqual(words, ["p", "--at=/d/x", "o"])


def reading(at, seconds, throughput):
    return {"at": at, "seconds": seconds, "metrics": {"throughput": throughput}}


class Curves(unittest.TestCase):
    def test_trials_that_ran_longest_are_compared(self):
        search = [{"number": 1, "readings": [reading(10, 6, 900), reading(50, 18, 500)]},
                  {"number": 2, "readings": [reading(20, 6, 950), reading(60, 18, 600)]},
                  {"number": 3, "readings": [reading(30, 6, 990)]},
                  {"number": 4, "failure": "x", "readings": []}]
        leads = curves.best_so_far(search)
        self.assertEqual([(at, number) for at, number, _ in leads],
                         [(10, 1), (20, 2), (30, 3), (50, 1), (60, 2)])
        self.assertEqual(curves.leader(search, 55), 1)
        self.assertIsNone(curves.leader(search, 5))
        self.assertEqual(curves.settled(leads), 60)
        self.assertIsNone(curves.settled([]))

    def test_a_rivals_trials_have_one_reading(self):
        rival = [{"number": 1, **reading(30, 30, 5)}, {"number": 2, **reading(60, 30, 9)},
                 {"number": 3, **reading(90, 30, 7)}, {"number": 4, "at": 95, "failure": "x"}]
        self.assertEqual(curves.best_so_far(rival), [(30, 1, 5), (60, 2, 9)])


class SearchLog(unittest.TestCase):
    def text(self):
        def event(**more):
            return json.dumps(more) + "\n"

        def told(at, number, **outcome):
            return event(event="measurement", at=at,
                         measurement={"trial": number, "outcome": outcome})

        def began(at, number):
            return event(event="decision", at=at, decision={
                "decision": "start", "trial": number, "configuration": {"a": number},
                "until": 6, "reason": "x"})

        series = [{"second": 2.0, "throughput": 70.0}, {"second": 5.9, "throughput": 50.04}]
        more = [{"second": 8.0, "throughput": 40.0}]
        return (event(event="begin", old=True) + began(0, 9) + event(event="begin") + began(0, 1)
                + told(8, 1, result="measured", seconds=6, setup_seconds=2,
                       metrics={"throughput": 60}, series=series)
                + began(8, 2) + told(9, 2, result="failed", cause="crash", detail="gone")
                + told(20, 1, result="measured", seconds=18, setup_seconds=0,
                       metrics={"throughput": 50}, series=more)
                + event(event="decision", at=21, decision={"decision": "done", "best": 1,
                                                           "reason": "x"}))

    def test_the_last_search_is_read(self):
        log = searching.Log(self.text())
        self.assertEqual((log.best, log.ended, log.spent), (1, False, 21))
        first, second = log.records()
        self.assertEqual((first["at"], first["seconds"], first["setup"]), (20, 18, 2))
        self.assertEqual(first["series"], [[2.0, 70.0], [5.9, 50.0], [8.0, 40.0]])
        self.assertEqual([it["at"] for it in first["readings"]], [8, 20])
        self.assertEqual(second["failure"], "crash: gone")
        self.assertTrue(searching.Log(self.text() + '{"event":"end","at":21}\n').ended)
        self.assertEqual(searching.Log(self.text() + '{"event":"en').spent, 21)

    def test_the_command_line_names_everything(self):
        sizes, table = settings.load()
        subject = subjects.of_setting(table["ycsb-a"], sizes, Path("/d"), "/bin/lissom")
        words = searching.words("/bin/lissom", subject, "dremel-both", Path("/o"), Path("/t"), 7)
        self.assertEqual(words[:2], ["/bin/lissom", "search"])
        self.assertIn("--rate-limit 50000000", words[words.index("--command") + 1])
        self.assertEqual(words[words.index("--budget") + 1], "900s")
        self.assertEqual(words[-2:], ["--objective", "both-get"])
        self.assertIn("entries=400000", words)


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

    def test_the_same_search_serves_several_studies(self):
        extra = studies.extras(["double-get30"])["buckets"][0]
        steps = studies.steps(extra, self.subject(), 3)
        self.assertIn(studies.steps(studies.main("double-get30"), self.subject(), 3)[0], steps)
        factor = {it.name: it.seconds for it in steps if it.kind == "hunt"}
        self.assertEqual(factor["dremel-3-buckets"], 5 * factor["dremel"])

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


def final(contender, turn, throughput):
    return {"type": "final", "study": "main", "subject": "ycsb-a", "contender": contender,
            "round": turn, "metrics": {"throughput": throughput, "get_p99_micros": 1e6 / throughput}}


def all_records():
    found = [{"type": "plan"}, {"type": "machine", "processor": "P", "cores": 2, "memory": "24 GiB",
                                "system": "Linux"}]
    for method, base in (("dremel", 900), ("random", 700), ("single-task", 890), ("multi-task", 800)):
        for number in range(1, 5):
            found.append({"type": "trial", "subject": "ycsb-a", "method": method, "number": number,
                          "configuration": {}, **reading(100.0 * number, 30, base - 40 + 10 * number),
                          "series": [[1, 900], [30, base]]})
        found.append({"type": "found", "subject": "ycsb-a", "method": method, "number": 4,
                      "configuration": {}, "spent": 400.0})
        found.append({"type": "checkpoint", "subject": "ycsb-a", "method": method, "share": 0.25,
                      "at": 225.0, "number": 2, "metrics": {"throughput": base * 0.9}})
        found += [final(method, turn, base + 10 * turn) for turn in range(3)]
    for contender, base in (("guide", 400), ("rocksdb", 300), ("rocksdb-unscaled", 2000)):
        found += [final(contender, turn, base + turn) for turn in range(3)]
    return found


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


class Hunts(unittest.TestCase):
    def test_what_a_trial_takes_is_learned(self):
        self.assertEqual(hunt.needed([], 30), 30)
        self.assertEqual(hunt.needed([{"setup": 4, "proposed": 2}, {"failure": "x"}], 30), 36)
        self.assertEqual(hunt.best([{"failure": "x"}])["configuration"], None)

    def test_libraries_are_wanted_only_by_their_methods(self):
        self.assertEqual(install.missing(["dremel", "random"]), [])
        with self.assertRaisesRegex(Failure, "no method x"):
            proposers.proposer("x", None, 1)


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
