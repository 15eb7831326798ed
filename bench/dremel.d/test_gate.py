"""What is measured before a campaign, around a stand-in for `lissom`."""

import os
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import testing
import gate
import settings
import subjects

TOY = testing.HERE / "toy.py"


class Gate(unittest.TestCase):
    def test_each_setting_has_a_line(self):
        if not os.access(TOY, os.X_OK):
            testing.skip(self, f"{TOY} cannot be executed here")
        _, table = settings.load()
        sizes = settings.Sizes(64 << 20, 1, 0.05, 1.0, 0)
        with tempfile.TemporaryDirectory() as directory:
            place = Path(directory)
            chosen = [subjects.of_setting(table[it], sizes, place, TOY) for it in ("ycsb-a", "ycsb-b")]
            said = []
            with mock.patch.object(gate, "LEAST", 0.05), \
                    mock.patch.object(gate, "proposer", side_effect=gate.Failure("no library")), \
                    mock.patch.object(gate, "db_bench", return_value="db_bench: none"):
                gate.gate(chosen, TOY, place, place / "gate.txt", said.append)
            text = (place / "gate.txt").read_text()
        self.assertEqual(text, "\n".join(said) + "\n")
        self.assertRegex(text, r"cores.*boot \w+\ndb_bench: none\nmulti-task: no library\n")
        # Of the toy 100 and ten times 2 and 2, whatever the operations.
        self.assertRegex(text, r"ycsb-b: set-ups take (\d\.\d, ){3}\d\.\d s, the guide's in whole trials "
                               r"(\d\.\d, ){4}\d\.\d s, the first \d\.\d s; 3 s are reckoned with; "
                               r"the guide's (140, ){4}140 operations/s, ±0\.0%")

    def test_a_run_that_fails_is_told(self):
        found = [{"besides": 1.0}, {"failure": "x"}]
        self.assertEqual(gate.figures(found, lambda it: f"{it['besides']:.1f}"), "1.0, x")
        self.assertEqual(gate.spread([90, 100, 110]), "±10.0%")
        self.assertEqual(gate.spread([]), "too few runs for a spread")


if __name__ == "__main__":
    unittest.main()
