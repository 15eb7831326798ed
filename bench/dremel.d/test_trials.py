"""What trials and searches say."""

import json
import os
import queue
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from testing import reading
import curves
import samples
import searching
import settings
import subjects
import trial


# What the runner of `lissom search` is tested by, too.
RECORDED = subjects.ROOT / "crates/trials/src/runner/recorded.json"


class Recorded:
    """Lines that come at their times: a queue and its clock."""

    def __init__(self, lines):
        self.lines, self.now = list(lines), 0.0

    def clock(self):
        return self.now

    def get(self, timeout):
        if not self.lines:
            raise queue.Empty
        self.now, line = self.lines.pop(0)
        return self.now, line


class Trials(unittest.TestCase):
    def test_samples_are_put_together(self):
        gauge = samples.Gauge()
        gauge.take({"throughput": 100, "seconds": 1, "memory_bytes": 5, "p99_micros": 9,
                    "cumulative": ["p99_micros"]}, 1)
        gauge.take({"throughput": 400, "seconds": 2, "memory_bytes": 3, "p99_micros": 4,
                    "cumulative": ["p99_micros"], "word": "x"}, 3)
        self.assertEqual(gauge.metrics(),
                         {"throughput": 300, "p99_micros": 4, "memory_bytes": 5})
        self.assertEqual(gauge.series, [[1, 100], [3, 400]])

    def follow(self, said, step=0.4, **more):
        """What follows from lines that come each `step` seconds."""
        lines, now = queue.Queue(), 0.0
        for at, line in enumerate(said):
            lines.put((at * step, line if line is None else json.dumps(line)))

        def clock():
            nonlocal now
            now += step
            return now

        return trial.follow(lines, 1, 100, clock, **more)

    def test_a_trial_is_heard_out(self):
        sample = {"throughput": 50, "seconds": 0.4}
        found = self.follow([{"ready": True}] + [sample] * 9)
        self.assertEqual(found["metrics"], {"throughput": 50, "memory_bytes": 0})
        self.assertGreaterEqual(found["seconds"], 1)

    def test_failures_are_told_apart(self):
        self.assertEqual(self.follow([{"error": "cannot open"}])["failure"], "cannot open")
        self.assertEqual(self.follow([{"ready": True}, None])["failure"], "")
        fat = self.follow([{"ready": True}, {"throughput": 1, "memory_bytes": 1000}])
        self.assertIn("are allowed", fat["failure"])
        self.assertIn("no sample came", self.follow([{"ready": True}], step=6)["failure"])
        for none in ("", " ", 0, 3, None, False):
            found = self.follow([{"error": none}, {"ready": True}, None])
            self.assertEqual(found["failure"], "", f"{none!r} tells of no failure")
        self.assertEqual(self.follow([{"error": {"code": 3}}])["failure"], '{"code": 3}')
        self.assertEqual(self.follow([{"error": True}])["failure"], "true")
        untold = self.follow([{"ready": True}] + [{"memory_bytes": 5}] * 9)
        self.assertEqual(untold["failure"], "no sample had a throughput")

    def test_who_does_not_tell_its_memory_is_weighed(self):
        said = [{"ready": True}] + [{"throughput": 50}] * 9
        found = self.follow(said, weigh=lambda: 2 << 20)
        self.assertEqual(found["failure"], "it held 2 MiB, where 0 MiB are allowed")
        told = [{"ready": True}] + [{"throughput": 50, "memory_bytes": 5}] * 9
        # It is weighed only until it has told.
        self.assertNotIn("failure", self.follow(told, step=0.1, weigh=lambda: 2 << 20))
        self.assertGreater(trial.resident(os.getpgrp()), 1 << 20)
        self.assertEqual(trial.resident(1 << 30), 0)

    def test_recorded_lines_come_to_the_same_as_in_lissom_search(self):
        recorded = json.loads(RECORDED.read_text())
        self.assertTrue(recorded)
        for it in recorded:
            lines = Recorded(it["lines"])
            found = trial.follow(lines, it["seconds"], 1 << 30, lines.clock,
                                 weigh=lambda: it["weighed"])
            self.assertEqual(found.get("metrics"), it["metrics"], it["name"])
            self.assertEqual((found["seconds"], found["setup"]),
                             (it["seconds"], it["setup_seconds"]), it["name"])

    def test_no_line_is_too_strange(self):
        for line in ("words for people", "{", "9" * 5000, f'{{"throughput": 1{"0" * 400}}}',
                     "[" * 100_000):
            self.assertEqual(samples.said(line), (samples.WORDS, None), line[:20])
        self.assertEqual(samples.said('{"error": {"code": 3}}'), (samples.FAILURE, '{"code": 3}'))
        self.assertEqual(samples.said('{"error": "no\\nfile", "ready": true}'),
                         (samples.FAILURE, "no file"))

    def test_a_window_is_of_whole_refills(self):
        self.assertEqual([subjects.window(it, 500) for it in (30, 6, 0.6)], ["500ms"] * 3)
        self.assertEqual([subjects.window(it, 1000) for it in (60, 45, 30)],
                         ["1000ms", "700ms", "500ms"])
        source = subjects.ROOT / "crates/bench/src/trial/system/stock_options.rs"
        self.assertIn(f"const REFILL_MICROS: i64 = {1000 * subjects.REFILL:_};",
                      source.read_text())

    def test_places_are_filled(self):
        words = trial.filled(["p", "--at={directory}/x", "{options}"], directory="/d", options="o")
        self.assertEqual(words, ["p", "--at=/d/x", "o"])


class DbBench(unittest.TestCase):
    """The example of a trial around it."""

    def test_operations_have_another_seed_than_the_data(self):
        script = subjects.ROOT / "examples/db_bench_trial.py"
        with tempfile.TemporaryDirectory() as directory:
            place = Path(directory)
            program = place / "db_bench"
            program.write_text(f'#!/bin/sh\necho "$*" >> {place}/said\n'
                               'case "$*" in *fillrandom*) exit 0;; esac\nexit 1\n')
            program.chmod(0o755)
            for seed in ("1", "2"):
                subprocess.run([sys.executable, "-B", str(script), "--flags", "f", "--directory",
                                "d", "--db-bench", str(program), "--seed", seed],
                               stdin=subprocess.DEVNULL, capture_output=True)
            said = (place / "said").read_text().splitlines()
        seeds = [word for line in said for word in line.split() if word.startswith("--seed")]
        self.assertEqual(seeds, ["--seed=1000000", "--seed=1000", "--seed=1000000", "--seed=2000"])


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
        self.assertEqual(words[words.index("--budget") + 1], "721s")
        # The paper's 100 s of 120, at a quarter.
        self.assertEqual(words[words.index("--evaluation") + 1], "25s")
        full = searching.words("/l", subject, "dremel-full", Path("/o"), Path("/t"), 7)
        self.assertEqual(full[full.index("--evaluation") + 1], "30s")
        self.assertIn("--operations-seed '{seed}'", words[words.index("--command") + 1])
        self.assertEqual(words[-2:], ["--objective", "both-get"])
        self.assertEqual((words[words.index("--repeats") + 1], "--json" in words), ("0", True))
        self.assertIn("entries=400000", words)
        self.assertNotIn("--restart", words)
        for make in (subjects.of_lissom, subjects.of_db_bench):
            subject = make(sizes, Path("/d"), "/bin/lissom")
            words = searching.words("/l", subject, "dremel", Path("/o"), Path("/t"), 7)
            self.assertEqual(words.count("--restart"), 1, "nobody mends what a pause leaves")

    def test_nothing_is_compressed(self):
        sizes, table = settings.load()
        subject = subjects.of_setting(table["ycsb-a"], sizes, Path("/d"), "/bin/lissom")
        base = subject.words[subject.words.index("--base") + 1]
        self.assertIn("compression=kNoCompression\n", subject.files[Path(base)])


if __name__ == "__main__":
    unittest.main()
