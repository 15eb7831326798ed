"""What studies run: contenders by turns, real sessions, searches."""

import tomllib
import unittest
from pathlib import Path

import testing  # says where the modules lie
import contenders
import hunt
import install
import proposers
import sessions
import settings
import studies
import subjects
from failure import Failure, MethodFailure


class Contenders(unittest.TestCase):
    """What is run again beside what was found."""

    class Space:
        default = {"a": 0}
        file = staticmethod(str)

    def setUp(self):
        sizes, table = settings.load()
        self.subject = subjects.of_setting(table["double-get30"], sizes, Path("/d"), "/bin/lissom")
        where = {"subject": "double-get30", "method": "dremel"}
        reading = lambda at, seconds, throughput: {
            "at": at, "seconds": seconds, "metrics": {"throughput": throughput}}
        # The second leads after 170 s, the third after 500 s, of 721 s.
        trials = [(1, reading(100, 30, 5)), (2, reading(170, 30, 7)), (3, reading(500, 30, 9))]
        self.held = [{"type": "trial", **where, "number": number, "configuration": {"a": number},
                      **last} for number, last in trials]
        self.held.append({"type": "found", **where, "number": 3, "configuration": {"a": 3}})

    def test_what_led_early_is_run_unless_somebody_is_run_with_it(self):
        found = lambda it: contenders.configuration(self.held, it, self.subject)
        self.assertEqual([found(it) for it in ("dremel@50%", "dremel")], [{"a": 2}, {"a": 3}])
        twin = lambda it: contenders.twin(self.held, it, self.subject)
        self.assertIsNone(twin("dremel@50%"))
        self.assertIsNone(twin("guide"))
        self.held[-1]["configuration"] = {"a": 2}
        self.assertEqual(twin("dremel@50%"), "dremel")
        self.held = self.held[2:]
        self.assertIsNone(found("dremel@50%"))
        self.assertEqual(contenders.lacking("dremel@50%"), "nothing was measured by then")

    def test_what_led_in_the_time_of_another_is_run(self):
        four = "dremel-4-buckets"
        for it in self.held:
            it["method"] = four
        early = studies.in_time_of(four, "dremel-2-buckets")
        found = lambda: contenders.configuration(self.held, early, self.subject)
        # Two buckets have 1,368 s.
        self.assertEqual(found(), {"a": 3})
        self.assertEqual(contenders.twin(self.held, early, self.subject), four)
        self.held[2]["at"] = 1369
        self.assertEqual(found(), {"a": 2})
        self.assertIsNone(contenders.twin(self.held, early, self.subject))
        self.assertEqual(contenders.lacking(early), "nothing was measured by then")

    def test_the_best_in_full_are_told_by_their_runs_in_full(self):
        full = [{"type": "full", "subject": "double-get30", "number": number,
                 "metrics": {"throughput": throughput}} for number, throughput in
                ((1, 4), (2, 8), (3, 6))]
        self.held += [*full, {"type": "full", "subject": "double-get30", "number": 4,
                              "failure": "x"}]
        found = [contenders.configuration(self.held, it, self.subject) for it in studies.BEST]
        self.assertEqual(found, [{"a": 2}, {"a": 3}, {"a": 1}])
        self.assertEqual([contenders.twin(self.held, it, self.subject) for it in studies.BEST],
                         [None, "chosen", None])
        self.held = self.held[:-2]
        self.assertIsNone(contenders.text(self.held, self.Space, "full-3", self.subject))
        self.assertEqual(contenders.text(self.held, self.Space, "chosen", self.subject),
                         "{'a': 3}")
        self.assertEqual(contenders.text(self.held, self.Space, "guide", self.subject),
                         "{'a': 0}")


class Sessions(unittest.TestCase):
    """Lissom's settings under `lissom bench`."""

    def setUp(self):
        sizes, _ = settings.load()
        self.subject = subjects.of_lissom(sizes, Path("/d"), "/bin/lissom")
        self.space = tomllib.loads(settings.SPACE.read_text())
        self.found = {it["name"]: 8 for it in self.space["parameter"]}
        self.found.update(policy="fixed-4", compression="none", bloom_bits_per_key=10.0,
                          write_buffer_size=1 << 20, max_write_buffer_number=3)

    def test_its_tree_has_three_levels_as_that_of_the_bench(self):
        # An L0 merge of 8 MiB; level 2 of a size ratio of 10 is full at 95 % of 800 MiB.
        data = self.subject.constants["entries"] * self.subject.constants["entry_bytes"]
        self.assertGreater(data, 0.95 * 800 * 2**20)
        self.assertEqual(self.subject.space, str(settings.SPACE))
        self.assertEqual(self.subject.constants["memory"], 36 << 20)
        memory = self.subject.words[self.subject.words.index("--memory") + 1]
        self.assertEqual(memory, str(36 << 20))

    def test_a_configuration_is_an_arm_with_resources(self):
        words = sessions.words("/l", self.found, self.subject, Path("/o"), 2)
        self.assertEqual(words[:5], ["/l", "bench", "five-sessions", "--scale", "0.2"])
        arms = [words[at + 1] for at, it in enumerate(words) if it == "--arm"]
        self.assertEqual(arms, ["fixed-4", "learned"])
        sets = {words[at + 1] for at, it in enumerate(words) if it == "--set"}
        for word in ("filter_bits_per_key=10", "background_compactions=8", "size_ratio=8",
                     f"block_cache_size={33 << 20}", f"write_buffer_size={1 << 20}"):
            self.assertIn(word, sets)
        # All but the policy and the compression, and the cache.
        self.assertEqual(len(sets), len(self.space["parameter"]) - 1)
        self.assertEqual(words[words.index("--rounds") + 1], "2")
        given = sessions.words("/l", None, self.subject, Path("/o"), 1)
        self.assertNotIn("--set", given)
        self.assertEqual(sessions.arms({"policy": "learned"}), {"found": "learned"})

    def test_every_resource_is_one_of_the_bench(self):
        words = sessions.resources(self.found, 36 << 20)
        names = {it.partition("=")[0] for it in words if it != "--set"}
        source = (subjects.ROOT / "crates/bench/src/arms/resources.rs").read_text()
        for name in names:
            self.assertIn(f"    pub {name}: ", source)

    def test_rounds_take_turns(self):
        study = studies.extras()["lissom"][0]
        steps = studies.steps(study, self.subject, 3)
        self.assertEqual([(it.name, it.number) for it in steps[1:]],
                         [("given", 0), ("found", 0), ("found", 1), ("given", 1), ("given", 2),
                          ("found", 2)])
        self.assertEqual({studies.searched(it) for it in steps}, {"dremel"})

    def test_totals_are_read(self):
        arm = {"arm": "fixed-4", "total_seconds": {"median": 2.0, "values": [1.0, 2.0]}}
        found = sessions.seconds({"verdict": {"arms": [arm]}}, sessions.arms(self.found))
        self.assertEqual(found, {"found": [1.0, 2.0], "found and learned": []})
        self.assertEqual(sessions.seconds({"verdict": None}, {"found": "x"}), {"found": []})


class Hunts(unittest.TestCase):
    def test_what_a_trial_takes_is_learned(self):
        self.assertEqual(hunt.needed([], 30), 30)
        own = [{"at": 37.0, "seconds": 30.0, "metrics": {}}, {"at": 45.0, "failure": "x"},
               {"at": 80.0, "seconds": 30.0, "metrics": {}}]
        # Of 37 s and of 35 s in all.
        self.assertEqual(hunt.needed(own, 30), 36)
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
        self.assertEqual(install.versions(["dremel", "random"]), {})
        for library in install.wanted(["single-task", "multi-task", "tpe"]):
            self.assertRegex(library, "^[a-z_]+==[0-9.]+$", "pinned")
        self.assertEqual(install.library("single-task"), install.library("multi-task"))
        self.assertNotEqual(install.library("dremel"), install.library("random"))
        with self.assertRaisesRegex(Failure, "no method x"):
            proposers.proposer("x", None, 1)


if __name__ == "__main__":
    unittest.main()
