"""Files of results."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import result_file
from failure import Failure


def read(path):
    return result_file.read(path, "bench/x")


class ResultFiles(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.path = Path(directory.name) / "out" / "results.jsonl"

    def opened(self, **plan):
        return result_file.ResultFile(self.path, plan, read)

    def test_what_was_cut_short_is_left_out_and_the_rest_goes_on(self):
        results = self.opened(budget=6)
        results.add({"type": "run", "number": 1}, {"type": "run", "number": 2})
        whole = self.path.read_bytes()
        with self.path.open("a") as file:
            file.write('{"type":"ru')
        again = self.opened(budget=6)
        self.assertEqual(again.records, results.records)
        self.assertEqual(self.path.read_bytes(), whole)
        again.add({"type": "run", "number": 3})
        self.assertEqual([it["number"] for it in read(self.path)[1:]], [1, 2, 3])
        self.assertEqual(again.find(type="run", number=3), again.all(type="run")[2])
        self.assertIsNone(again.find(type="run", number=4))
        self.assertEqual([it.name for it in self.path.parent.iterdir()], ["results.jsonl"])

    def test_two_runs_do_not_write_one_file(self):
        with result_file.lock(self.path):
            with self.assertRaisesRegex(Failure, "another run writes to .*results.jsonl: wait"):
                result_file.lock(self.path)
        result_file.lock(self.path).close()

    def test_another_plan_is_refused_by_name(self):
        self.opened(seconds=6, tables=1)
        with self.assertRaisesRegex(Failure, "another tables: give the same"):
            self.opened(seconds=6, tables=2)
        self.assertEqual(self.opened(seconds=6, tables=1).records[0]["tables"], 1)

    def test_a_foreign_file_is_refused_and_stays(self):
        self.path.parent.mkdir()
        for text in ["[]x\n", "[]\n", '{"type":"run"}\n', "\n"]:
            self.path.write_text(text)
            with self.assertRaises(Failure):
                self.opened(seconds=6)
            self.assertEqual(self.path.read_text(), text)


if __name__ == "__main__":
    unittest.main()
