"""`lissom attach` beside the server, and the ways in which it can end."""

import os
import signal
import subprocess
import time
from pathlib import Path

from failure import Failure
from server import run

# Seconds for the agent to attach, and to end.
PATIENCE = 30


class Agent:
    """An agent that has taken its lock in the server."""

    def __init__(self, program, server, limits, plan, log, server_lease=False):
        self.program, self.server = program, server
        self.state = server.directory / "state"
        self.watchdogs = []
        lease = ["--server-lease", "lissom"] if server_lease else []
        # Not through pipes: the watchdog outlives the agent, and holds them open.
        self.errors = Path(f"{log}.errors")
        with open(log, "w") as said, self.errors.open("w") as errors:
            self.process = subprocess.Popen(
                [*self.attach(), "--json",
                 "--io-limit", str(int(limits["io_limit"])),
                 "--io-high-limit", str(int(limits["io_high_limit"])),
                 "--io-low-limit", str(int(limits["io_low_limit"])),
                 "--max-level0-files", str(plan["max_level0_files"]), *lease, *plan["agent"]],
                stdin=subprocess.DEVNULL, stdout=said, stderr=errors)
        self.await_lock()

    def attach(self):
        return [str(self.program), "attach", "mysql://lissom@localhost",
                "--defaults-file", str(self.server.account), "--state", str(self.state)]

    def await_lock(self):
        deadline = time.monotonic() + PATIENCE
        while self.server.run("SELECT IS_USED_LOCK('lissom.attach')") == [["NULL"]]:
            if self.process.poll() is not None:
                raise Failure(f"the agent ended: {self.last_error()}")
            if time.monotonic() > deadline:
                self.end()
                raise Failure("the agent does not attach")
            time.sleep(0.2)

    def last_error(self):
        return (self.errors.read_text().splitlines() or ["it said nothing"])[-1]

    def terminate(self):
        """Asks it to end, which it must do well."""
        self.process.terminate()
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            raise Failure("the agent does not end when it is asked to") from None
        if self.process.returncode != 0:
            raise Failure(f"the agent ended with {self.process.returncode}: {self.last_error()}")

    def kill(self, with_watchdog=False):
        """SIGKILL: it cannot say a word. With its watchdog, neither notices that the other
        has gone."""
        os.kill(self.process.pid, signal.SIGSTOP)
        self.watchdogs = children(self.process.pid)
        if with_watchdog:
            self.kill_watchdogs()
        self.process.kill()
        self.process.wait()

    def kill_watchdogs(self):
        for watchdog in self.watchdogs:
            # The number may be another process's by now.
            command = Path(f"/proc/{watchdog}/cmdline")
            if command.exists() and b"attach-watchdog" in command.read_bytes():
                os.kill(watchdog, signal.SIGKILL)

    def end(self):
        """Leaves nothing behind: a watchdog would look for its server for a day."""
        if self.process.poll() is None:
            self.kill(with_watchdog=True)
        self.kill_watchdogs()

    def restore(self):
        """By hand: `lissom attach --restore`."""
        return run([*self.attach(), "--restore"]).strip()


def children(parent):
    """Processes that `parent` has started."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            # The name is in parentheses, and may hold some itself.
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == parent:
            found.append(int(stat.parent.name))
    return found
