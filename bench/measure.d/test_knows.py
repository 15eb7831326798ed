"""Who knows the sessions beforehand."""

import json
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import knows
from failure import Failure

BENCH = HERE.parent


def hull(best, sessions):
    """Results with these best arms by closed session."""
    rows = [{"session": session, "arm": arm, "seconds": 1.0} for session, arm in best.items()]
    return {"parameters": {"workload": {"session": [{"name": name} for name in sessions]}},
            "verdict": {"headroom": {"switchable": {"best_per_session": rows}}}}


class Knows(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.place = Path(directory.name)
        self.hull = self.place / "hull.json"
        self.out = self.place / "out" / "hull"
        self.publish(reads="fixed-1", writes="lazy-leveling", closing="fixed-4")

    def publish(self, **best):
        self.hull.write_text(json.dumps(hull(best, ["reads", "writes"])))

    def test_it_takes_the_best_of_each_session_and_of_the_closing_one(self):
        self.assertEqual(knows.known(self.hull, self.out),
                         "oracle:reads=fixed-1,writes=lazy-leveling,closing=fixed-4")

    def test_a_session_with_an_offered_rate_changes_nothing(self):
        best = {"writes": "fixed-10", "closing": "fixed-1"}
        arm = knows.chosen(hull(best, ["quiet", "writes", "bursts"]), "hull.json")
        self.assertEqual(arm, "oracle:quiet=fixed-10,writes=fixed-10,bursts=fixed-10,"
                              "closing=fixed-1")

    def test_a_run_keeps_what_it_began_with(self):
        first = knows.known(self.hull, self.out)
        self.publish(reads="fixed-10", writes="fixed-10", closing="fixed-10")
        self.assertEqual(knows.known(self.hull, self.out), first)
        self.hull.unlink()
        self.assertEqual(knows.known(self.hull, self.out), first)
        self.assertEqual([it.name for it in self.out.iterdir()], ["oracle.txt"])

    def test_a_run_that_wrote_down_no_name_goes_on_by_its_results(self):
        self.out.mkdir(parents=True)
        arms = ["fixed-1", "oracle:reads=fixed-10,writes=fixed-10,closing=fixed-1"]
        (self.out / "results.json").write_text(json.dumps({"parameters": {"arms": arms}}))
        self.assertEqual(knows.known(self.hull, self.out), arms[1])
        (self.out / "results.json").unlink()
        self.assertEqual(knows.known(self.hull, self.out), arms[1])

    def test_results_without_an_oracle_leave_the_choice(self):
        self.out.mkdir(parents=True)
        (self.out / "results.json").write_text('{"parameters": {"arms": ["fixed-1"]}}')
        self.assertTrue(knows.known(self.hull, self.out).startswith("oracle:reads=fixed-1,"))

    def test_what_cannot_be_chosen_from_is_named_and_nothing_is_kept(self):
        none = {"verdict": {"headroom": {"switchable": None}}}
        for text, says in [("{", "must be results of"),
                           (json.dumps(none), "hull.json: it does not tell the best"),
                           (json.dumps(hull({}, ["quiet"])), "measure it without an oracle")]:
            self.hull.write_text(text)
            with self.assertRaisesRegex(Failure, says):
                knows.known(self.hull, self.out)
        self.hull.unlink()
        with self.assertRaisesRegex(Failure, "hull.json"):
            knows.known(self.hull, self.out)
        self.assertFalse(self.out.exists())

    def test_the_command_prints_the_arm_or_one_sentence(self):
        def asked():
            command = [sys.executable, "-B", str(HERE / "knows.py"), self.hull, self.out]
            return subprocess.run(command, capture_output=True, text=True, check=False)
        self.hull.write_text("[]")
        failed = asked()
        self.assertEqual((failed.returncode, failed.stdout), (1, ""))
        self.assertEqual(len(failed.stderr.splitlines()), 1, failed.stderr)
        self.publish(reads="fixed-4", writes="fixed-4", closing="fixed-4")
        self.assertEqual(asked().stdout,
                         "oracle:reads=fixed-4,writes=fixed-4,closing=fixed-4\n")


class Published(unittest.TestCase):
    def test_every_hull_that_an_oracle_needs_names_an_arm_for_each_session(self):
        paths = list(BENCH.glob("results/hull-*.json"))
        self.assertTrue(paths)
        for path in paths:
            results = knows.read(path)
            arm = knows.chosen(results, path)
            pairs = [part.split("=") for part in arm.removeprefix("oracle:").split(",")]
            sessions = [it["name"] for it in results["runs"][0]["sessions"]]
            self.assertEqual([session for session, _ in pairs], sessions, path)
            for _, own in pairs:
                self.assertRegex(own, r"^(fixed-\d+|lazy-leveling)$")

    def test_bench_measure_names_no_oracle_by_hand(self):
        script = (BENCH / "measure").read_text()
        self.assertIsNone(re.search(r"oracle:", script))


if __name__ == "__main__":
    unittest.main()
