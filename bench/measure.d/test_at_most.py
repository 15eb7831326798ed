"""Whether arms kept to a bound over the best static arm."""

import statistics
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import at_most


def figure(*values):
    return {"median": statistics.median(values), "values": list(values)}


def results(own, best=(100.0, 110.0, 90.0), **more):
    arms = [{"arm": "fixed-4", "over_space_bound": False, "total_seconds": figure(*best)},
            {"arm": "learned", "over_space_bound": False, "total_seconds": figure(*own), **more}]
    return {"verdict": {"complete_rounds": len(own), "arms": arms,
                        "headroom": {"best_static": "fixed-4",
                                     "best_static_seconds": figure(*best)}}}


class AtMost(unittest.TestCase):
    def rendered(self, *arguments, **more):
        return at_most.rendered(results(*arguments, **more), "learned", 10.0)

    def test_every_round_must_keep_to_it(self):
        self.assertEqual(self.rendered((105.0, 110.0, 98.1)),
                         "learned over fixed-4: +5.0 % by medians, +0.0 to +9.0 % by round\n"
                         "learned at most 10 % over the best static arm, in every round: yes")
        text = self.rendered((105.0, 99.0, 108.0))
        self.assertIn("+5.0 % by medians, -10.0 to +20.0 % by round", text)
        self.assertTrue(text.endswith(": no"), text)

    def test_there_is_no_answer_without_three_rounds_or_without_the_arm(self):
        self.assertIn("no answer yet, 2 of 3 rounds", self.rendered((100.0, 110.0)))
        text = at_most.rendered({"verdict": None}, "learned", 10.0)
        self.assertIn("no answer yet, 0 of 3 rounds", text)
        text = at_most.rendered(results((100.0, 110.0, 90.0)), "lerp", 10.0)
        self.assertTrue(text.endswith("no answer, it did not run"), text)

    def test_there_is_no_answer_without_a_static_arm_that_kept_to_the_bound(self):
        alone = results((100.0, 110.0, 90.0))
        alone["verdict"]["headroom"] = None
        self.assertIn("no answer, there was no static arm to compare with, or none kept",
                      at_most.rendered(alone, "learned", 10.0))

    def test_an_arm_over_the_bound_on_space_did_not_keep_to_it(self):
        text = self.rendered((50.0, 50.0, 50.0), over_space_bound=True)
        self.assertEqual(text, "learned at most 10 % over the best static arm: no, it was over "
                               "the bound on space")


if __name__ == "__main__":
    unittest.main()
