"""sysbench against the server, and what came of each transaction."""

import subprocess
import time
from pathlib import Path

from failure import Failure
from server import run

SCRIPT = Path(__file__).with_name("periodic.lua")
# Seconds from the start of sysbench until all its threads wait for the origin.
PREPARATION = 3
# Seconds that transactions may come late before the rest is given up.
GRACE = 60


def common(server, plan):
    return [f"--mysql-socket={server.socket}", "--mysql-user=root", "--mysql-db=sbtest",
            "--mysql_storage_engine=rocksdb", f"--tables={plan['tables']}",
            f"--table-size={plan['table_size']}", "--rand-type=uniform"]


def prepare(server, plan):
    """Makes and fills the tables."""
    run(["sysbench", "oltp_read_write", *common(server, plan),
         f"--threads={min(plan['tables'], 2)}", "prepare"])


class Load:
    """Transactions for `seconds`: high and low by turns, or at the highest rate only, or,
    without a rate, as many as there can be."""

    def __init__(self, server, plan, seconds, threads, high=0.0, low=None):
        self.seconds = seconds
        self.files = server.directory / "latencies"
        self.origin = time.monotonic() + PREPARATION
        phases = (plan["high_seconds"], plan["low_seconds"]) if low else (seconds, 1)
        self.process = subprocess.Popen(
            ["sysbench", str(SCRIPT), *common(server, plan), f"--threads={threads}",
             f"--time={int(seconds) + PREPARATION + GRACE}", "--events=0",
             f"--seconds={seconds}", f"--origin={self.origin:.6f}",
             f"--high_rate={high:.6f}", f"--low_rate={low or high:.6f}",
             f"--high_seconds={phases[0]}", f"--low_seconds={phases[1]}",
             f"--latencies={self.files}", "run"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def wait(self):
        """(seconds from the start to the end, milliseconds) of each transaction."""
        said, _ = self.process.communicate()
        if self.process.returncode != 0:
            errors = [line for line in said.splitlines() if "FATAL" in line or "error" in line]
            raise Failure(f"sysbench failed: {(errors or said.splitlines() or ['?'])[-1]}")
        ended = []
        for path in sorted(self.files.parent.glob(self.files.name + ".*")):
            with path.open() as lines:
                ended.extend(tuple(map(float, line.split())) for line in lines)
            path.unlink()
        return sorted(ended)

    def stop(self):
        """Ends it without asking what came of it."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()
        for path in self.files.parent.glob(self.files.name + ".*"):
            path.unlink()
