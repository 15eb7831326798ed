"""Trials on this machine, and the pieces that they are made of."""

import json
import os
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

import host
import processes
import root
import trial
from testing import GOOD, order


class Host(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)

    def host(self, keep=False, search="x", memory_bytes=1 << 30):
        made = host.Host(self.directory, search, "worker-0", memory_bytes, keep, "here")
        self.addCleanup(lambda: made.root.lock.closed or made.close())
        return made

    def stray(self, mark):
        """A process that bears the mark, once everybody can see it."""
        made = subprocess.Popen(["sleep", "1000"], env={**os.environ, processes.VARIABLE: mark})
        self.addCleanup(made.kill)
        end = time.monotonic() + 20
        while not processes.strays(mark):
            self.assertLess(time.monotonic(), end)
        return made

    def until(self, made, kind, orders=()):
        """Everything that is said up to such a message."""
        news, end = made.turn(list(orders), 0.0), time.monotonic() + 20
        while not any(it["message"] == kind for it in news):
            self.assertLess(time.monotonic(), end, news)
            news += made.turn([], 0.05)
        return news

    def test_a_trial_runs_stands_still_and_goes_on(self):
        made = self.host()
        script = 'echo $$ > "$2/group"; cat "$1" >&2; ' + GOOD
        news = self.until(made, "weighed", [order("start", 1, script)])
        self.assertEqual(news[0], {"message": "started", "run": 1, "place": "here"})
        lines = [it["line"] for it in news if it["message"] == "line"]
        self.assertEqual(json.loads(lines[0]), {"ready": True})
        self.assertIn("a=1", [it["line"] for it in news if it["message"] == "words"])
        weights = [it["memory_bytes"] for it in news if it["message"] == "weighed"]
        self.assertGreater(weights[0], 100_000)
        times = [it["at"] for it in news if it["message"] == "line"]
        self.assertEqual(times, sorted(times))
        group = int((made.root.own / "trial-1-1" / "data" / "group").read_text())
        self.assertEqual(Path(f"/proc/{group}/oom_score_adj").read_text().strip(), "1000")
        paused = self.until(made, "paused", [order("pause", 1)])[-1]
        time.sleep(0.1)
        # What was in the pipe; nothing is written any more.
        made.turn([], 0.1)
        self.assertEqual(made.turn([], 0.1), [])
        resumed = self.until(made, "line", [order("go_on", 1)])[0]
        self.assertEqual(resumed["message"], "resumed")
        self.assertGreaterEqual(resumed["at"], paused["at"] + 0.1)
        self.until(made, "stopped", [order("stop", 1)])
        self.assertEqual(processes.members(group), [])
        self.assertFalse((made.root.own / "trial-1-1").exists())
        made.close()
        self.assertEqual(list(self.directory.iterdir()), [])

    def test_endings_say_how(self):
        made = self.host()
        news = self.until(made, "ended", [order("start", 1, "echo last; exit 3")])
        self.assertEqual(news[-1]["how"], "exit status: 3")
        self.assertFalse(news[-1]["killed"])
        self.assertEqual(news[-2]["line"], "last")
        news = self.until(made, "ended", [order("start", 2, "kill -KILL $$")])
        self.assertEqual((news[-1]["how"], news[-1]["killed"]), ("signal: 9 (SIGKILL)", True))
        self.assertEqual(made.turn([order("stop", 2)], 0.0), [{"message": "stopped", "run": 2}])
        self.assertEqual(list(made.root.own.iterdir()), [])
        start = order("start", 3)
        start["command"] = ["/no/such/program", "{options}"]
        failed = made.turn([start], 0.0)[0]
        self.assertEqual(failed["message"], "failed")
        self.assertIn("cannot start '/no/such/program' on here", failed["why"])

    def test_nothing_of_a_trial_lives_on(self):
        made = self.host()
        script = "trap '' TERM; setsid sleep 1000 & sleep 1000 & echo on; wait; sleep 1000"
        self.until(made, "line", [order("start", 1, script)])
        directory = made.root.own / "trial-1-1"
        self.assertTrue(processes.strays(directory))
        with mock.patch.object(trial, "PATIENCE", 0.2):
            self.until(made, "stopped", [order("stop", 1)])
        self.assertEqual(processes.strays(directory), [])

    def test_lines_may_come_by_a_file(self):
        made = self.host()
        script = 'echo no; echo \'{"throughput": 7}\' > "$3"; exec sleep 1000'
        news = self.until(made, "line", [order("start", 1, script, "{metrics}")])
        self.assertEqual([it["line"] for it in news if it["message"] == "line"], ['{"throughput": 7}'])

    def test_what_was_left_is_removed(self):
        left = self.directory / "lissom-left"
        (left / "worker-0" / "trial-1-1").mkdir(parents=True)
        (left / root.LOCK).touch()
        mine = self.directory / "lissom-mine"
        mine.mkdir()
        (mine / "lock").touch()
        mark = str(left / "worker-0" / "trial-1-1")
        stray = self.stray(mark)
        first = self.host(search="first")
        self.assertEqual(stray.wait(10), -signal.SIGKILL)
        self.assertFalse(left.exists())
        self.assertTrue(mine.exists(), "without that lock it is no search's")
        second = host.Host(self.directory, "first", "worker-1", 1, False, "here")
        self.assertTrue(first.root.own.exists(), "it is in use")
        first.close()
        self.assertTrue(second.root.shared.exists(), "by another worker")
        mark = str(first.root.own / "trial-1-1")
        stray = self.stray(mark)
        second.close()
        self.assertEqual(stray.wait(10), -signal.SIGKILL, "the last one looks after all")
        self.assertEqual(list(self.directory.iterdir()), [mine])

    def test_what_is_kept_stays(self):
        made = self.host(keep=True)
        self.until(made, "ended", [order("start", 1, "touch $2/data; exit 1")])
        made.close()
        self.host(search="y").close()
        kept = self.directory / "lissom-x" / "worker-0" / "trial-1-1" / "data" / "data"
        self.assertTrue(kept.exists())


class Pieces(unittest.TestCase):
    def test_places_are_filled_inside_words(self):
        values = {"{options}": "/t/{directory}/O", "{directory}": "/d"}
        words = ["p", "--o={options}", "{directory}/{x}", "{"]
        self.assertEqual(trial.fill(words, values), ["p", "--o=/t/{directory}/O", "/d/{x}", "{"])

    def test_only_whole_lines_are_followed(self):
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "metrics"
            follow = trial.Follow(path)
            self.assertEqual(follow.lines(), [])
            path.write_bytes(b"one\ntw")
            self.assertEqual(follow.lines(), [b"one"])
            path.write_bytes(b"one\ntwo\n")
            self.assertEqual(follow.lines(), [b"two"])
            path.write_bytes(b"anew\n")
            self.assertEqual(follow.lines(), [b"anew"])
            path.write_bytes(b"anew\n" + b"x" * 100_000)
            self.assertEqual((follow.lines(), follow.rest), ([], b""), "it is no line")

    def test_a_process_group_is_weighed(self):
        scale = processes.Scale(os.getpgrp(), 1 << 50)
        self.assertGreater(scale.weigh(0.0), 1_000_000)
        self.assertIsNone(scale.weigh(0.1), "not so often")
        self.assertIn(os.getpid(), processes.members(os.getpgrp()))
        scale.limit = 0
        self.assertGreater(scale.weigh(1.0), 0)

    def test_lines_are_bounded_and_need_not_be_text(self):
        self.assertEqual(trial.shown(b"a\xff\n"), "a\N{REPLACEMENT CHARACTER}")
        self.assertEqual(len(trial.shown(b"x" * 100_000)), trial.LONGEST_LINE)


if __name__ == "__main__":
    unittest.main()
