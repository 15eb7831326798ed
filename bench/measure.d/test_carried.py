"""What arms carried."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import carried


def run(arm, at, *sessions):
    named = [{"name": name, "operations": 100, "seconds": seconds} for name, seconds in sessions]
    return {"arm": arm, "round": at, "sessions": [*named, {"name": "closing", "operations": 1, "seconds": 9.0}]}


class Carried(unittest.TestCase):
    def setUp(self):
        workload = {"name": "mix-closed", "session": [{"name": "mix"}, {"name": "mix-2"}]}
        runs = [run("fixed-1", at, ("mix", 1.0), ("mix-2", seconds))
                for at, seconds in enumerate((2.0, 4.0, 5.0))]
        self.results = {"parameters": {"arms": ["fixed-1"], "workload": workload}, "runs": runs}

    def test_the_slowest_session_counts_by_its_median(self):
        self.assertEqual(carried.carried(self.results), {"fixed-1": 25.0})

    def test_rounds_count_that_hold_all_arms(self):
        self.results["parameters"]["arms"].append("fixed-4")
        self.assertEqual(carried.carried(self.results), {})
        self.results["runs"] += [run("fixed-4", at, ("mix", 0.01), ("mix-2", 0.02))
                                 for at in (0, 1)]
        self.results["runs"].append(run("fixed-1", 3, ("mix", 1.0), ("mix-2", 90.0)))
        self.assertEqual(carried.carried(self.results)["fixed-1"], 37.5)
        text = carried.render(self.results)
        self.assertEqual(text.splitlines(), ["Carried by mix-closed, operations a second",
                                             "  fixed-1: 38", "  fixed-4: 5,000"])


if __name__ == "__main__":
    unittest.main()
