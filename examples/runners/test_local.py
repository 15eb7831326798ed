"""The runner of trials on this machine, as lissom starts it."""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import processes
import runner
from testing import GOOD, order


class Local(unittest.TestCase):
    """The whole runner, with lissom's end of the wire in hand."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)
        program = Path(__file__).with_name("local_runner.py")
        self.process = subprocess.Popen(
            [sys.executable, "-B", program, "--workers", "2", "--directory", directory.name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.addCleanup(self.process.stdout.close)
        self.addCleanup(self.process.kill)

    def tell(self, message):
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def hear(self, kind):
        while True:
            message = json.loads(self.process.stdout.readline())
            if message["message"] == kind:
                return message

    def hello(self, version):
        self.tell({"message": "hello", "version": version, "memory_bytes": 1 << 30, "keep": False})

    def test_trials_end_with_lissom(self):
        self.hello(runner.VERSION)
        self.assertEqual(self.hear("hello")["workers"], 2)
        for run in (1, 2):
            self.tell(order("start", run, GOOD))
            self.assertEqual(self.hear("started")["run"], run)
        self.tell(order("pause", 1))
        self.assertEqual(self.hear("paused")["run"], 1)
        self.assertTrue(processes.strays(self.directory))
        self.process.stdin.close()
        self.process.stdout.read()
        self.assertEqual(self.process.wait(20), 0)
        self.assertEqual(processes.strays(self.directory), [])
        self.assertEqual(list(self.directory.iterdir()), [])

    def test_another_version_is_refused(self):
        self.hello(runner.VERSION + 1)
        self.assertIn("speaks version 1", self.hear("failed")["why"])
        self.assertEqual(self.process.wait(20), 1)
        self.process.stdin.close()


if __name__ == "__main__":
    unittest.main()
