"""What parts of the learner are worth, by simulated workloads."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import parts


def text(whole, **without):
    rows = [f"  learned-without-{part}: {over:+.1f} ±3.0 % against it, +9.0 % over the best"
            for part, over in without.items()]
    return "\n".join(["Best static arm: fixed-1, 128 s", f"  learned: {whole:+.1f} % against it, +1 %",
                      *rows, "  oracle: +17.5 % against it, +26.5 % over the best of each session"])


class Parts(unittest.TestCase):
    def test_a_part_is_told_by_what_the_learner_takes_without_it(self):
        for whole, without, longer in ((0.0, 2.0, 2.0), (0.0, -1.0, -1.0), (-50.0, 0.0, 100.0)):
            found = parts.longer(text(whole, trials=without), "a")
            self.assertEqual(list(found), ["trials"])
            self.assertAlmostEqual(found["trials"], longer)

    def test_what_lacks_the_learner_or_its_parts_is_refused_by_name(self):
        for lacking in ("nothing", text(0.0), text(0.0, trials=1.0).replace(" learned:", " other:")):
            with self.assertRaisesRegex(parts.NotWhole, "^a.txt: no learned"):
                parts.longer(lacking, "a.txt")

    def test_workloads_of_a_kind_are_one_column_and_the_part_worth_most_comes_first(self):
        with tempfile.TemporaryDirectory() as directory:
            place = Path(directory)
            (place / "fitted.random-7.txt").write_text(text(0.0, trials=2.0, prior=-1.0))
            (place / "fitted.random-8.txt").write_text(text(0.0, trials=4.0, prior=-1.0))
            (place / "fitted.five-sessions.txt").write_text(text(0.0, prior=1.5))
            table = parts.rendered(parts.gathered(sorted(place.glob("*.*.txt")))).splitlines()
        self.assertEqual([line.split() for line in table],
                         [["without", "random,", "fitted", "five-sessions,", "fitted"],
                          ["workloads", "2", "1"],
                          ["trials", "+3.0", "±1.0", "%", "-"],
                          ["prior", "-1.0", "±0.0", "%", "+1.5", "%"]])
        self.assertEqual(len({len(line) for line in table}), 1, "columns end together")


if __name__ == "__main__":
    unittest.main()
