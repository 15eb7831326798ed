"""Settings, the encoding of configurations, and what the libraries are told."""

import math
import random
import tempfile
import tomllib
import unittest
from pathlib import Path

import testing  # says where the modules lie
import encode
import settings
import subjects
import tasks
from failure import Failure


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
        first = [it.name for it in settings.select(self.settings, ["first"])]
        self.assertEqual(first, ["initial-get30-skew03", "preloaded-get60", "double-get30",
                                 "nutanix"])
        self.assertEqual([it.name for it in chosen][:4], first, "who comes first, goes first")
        self.assertEqual({it.group for it in chosen}, set(settings.GROUPS))
        self.assertEqual(len(settings.select(self.settings, ["chosen", "all"])), 18)
        with self.assertRaisesRegex(Failure, "no setting x"):
            settings.select(self.settings, ["x"])

    def test_sizes_are_in_proportion(self):
        self.assertEqual((self.sizes.memory, self.sizes.evaluation), (64 << 20, 30))
        self.assertEqual((self.sizes.budget, self.sizes.setups), (625, 32))
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

    def test_the_budget_has_room_for_the_set_ups_of_a_setting(self):
        budget = lambda name: testing.subject(name).budget
        names = ("initial-get30-skew03", "preloaded-get60", "ycsb-b", "nutanix")
        self.assertEqual({budget(it) for it in names}, {625 + 32 * 3})
        make = lambda sizes: subjects.of_lissom(sizes, Path("/d"), "/l")
        self.assertEqual(make(self.sizes).budget, 2 * 625 + 32 * make(self.sizes).setup)
        half = settings.with_times(self.sizes, None, None, 0.5)
        self.assertEqual(make(half).budget, make(self.sizes).budget / 2)

    def test_times_may_be_shorter_but_not_for_nothing(self):
        half = settings.with_times(self.sizes, None, None, 0.5)
        self.assertEqual((half.evaluation, half.budget, half.setups), (30, 312.5, 16),
                         "trees must fill")
        short = settings.with_times(self.sizes, 6, 60, 0.5)
        self.assertEqual((short.evaluation, short.budget), (6, 30), "who asks for it, has it")
        for times in ((100, 300, 1), (None, None, 0.1)):
            with self.assertRaisesRegex(Failure, "give more by --budget"):
                settings.with_times(self.sizes, *times)

    def test_a_reason_changes_no_fingerprint(self):
        text, space = settings.TABLE.read_text(), settings.SPACE.read_text()
        with tempfile.TemporaryDirectory() as directory:
            other = Path(directory) / "settings.toml"
            other.write_text(text.replace("most writes", "fewest reads"))
            self.assertEqual(settings.fingerprint(other), settings.fingerprint())
            other.write_text(text.replace("skew = 0.3", "skew = 0.4", 1))
            self.assertNotEqual(settings.fingerprint(other), settings.fingerprint())
            other.write_text(space.replace('change = "set-options"', 'change = "reopen"')
                             .replace('source = "crates', 'source = "src'))
            self.assertEqual(settings.fingerprint(space=other), settings.fingerprint())
            other.write_text(space.replace("range = [2, 20]", "range = [2, 12]"))
            self.assertNotEqual(settings.fingerprint(space=other), settings.fingerprint())


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
        many = {str(number): others["b"] for number in range(17)}
        self.assertLessEqual(len(tasks.rows([], many)), tasks.MOST_IN_ALL)
        part = [goal for task, _, goal in rows if task == 1]
        self.assertLess(part[0], part[1])
        self.assertTrue(math.isclose(sum(part), 0, abs_tol=1e-9))


if __name__ == "__main__":
    unittest.main()
