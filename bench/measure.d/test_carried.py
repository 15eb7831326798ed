"""What arms carried."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import carried


def run(arm, *sessions):
    named = [{"name": name, "operations": 100, "seconds": seconds} for name, seconds in sessions]
    return {"arm": arm, "sessions": [*named, {"name": "closing", "operations": 1, "seconds": 9.0}]}


class Carried(unittest.TestCase):
    def setUp(self):
        workload = {"name": "mix-closed", "session": [{"name": "mix"}, {"name": "mix-2"}]}
        self.results = {"parameters": {"arms": ["fixed-1", "fixed-4"], "workload": workload},
                        "runs": [run("fixed-1", ("mix", 1.0), ("mix-2", seconds))
                                 for seconds in (2.0, 4.0, 5.0)]}

    def test_the_slowest_session_counts_by_its_median(self):
        self.assertEqual(carried.carried(self.results), {"fixed-1": 25.0})

    def test_every_arm_that_ran_has_a_line(self):
        self.results["runs"].append(run("fixed-4", ("mix", 0.01), ("mix-2", 0.02)))
        text = carried.render(self.results)
        self.assertEqual(text.splitlines(), ["Carried by mix-closed, operations a second",
                                             "  fixed-1: 25", "  fixed-4: 5,000"])


if __name__ == "__main__":
    unittest.main()
