"""Processes of trials, by the files under /proc."""

import os
import signal
import sys
import time
from pathlib import Path

# Names a trial in the environment of all its processes.
VARIABLE = "LISSOM_TRIAL"
# Seconds between two looks, between two weighings, and between two searches for members of
# a process group.
TICK, WEIGHED_EACH, SEARCHED_EACH = 0.01, 0.25, 2.0
# What was asked to end has so many seconds.
PATIENCE = 5.0


def processes():
    return [int(entry) for entry in os.listdir("/proc") if entry.isdigit()]


def read(path):
    """The bytes of a file that may be gone."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def members(group):
    """The processes of a group that have not ended."""
    found = []
    for pid in processes():
        # Behind the name, which may hold anything: state, parent, group (proc(5)).
        fields = read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
        if len(fields) > 2 and int(fields[2]) == group and fields[0] not in (b"Z", b"X"):
            found.append(pid)
    return found


def strays(path):
    """Processes of the trials in a directory, or of the one that it belongs to."""
    mark = f"{VARIABLE}={path}".encode()
    found = []
    for pid in processes():
        variables = read(f"/proc/{pid}/environ").split(b"\0")
        if any(it == mark or it.startswith(mark + b"/") for it in variables):
            found.append(pid)
    return found


def kill_strays(path):
    """Kills them, and what they start meanwhile."""
    until, clean = time.monotonic() + PATIENCE, 0
    # One that is becoming another program has no environment for a moment.
    while clean < 2 and time.monotonic() < until:
        found = strays(path)
        clean = 0 if found else clean + 1
        for pid in found:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(TICK)


def bytes_behind(text, *names):
    """The sum of what stands behind names in a file under /proc, in kB there."""
    lines = (line.split() for line in text.decode(errors="replace").splitlines())
    return sum(int(line[1]) * 1024 for line in lines if len(line) > 1 and line[0] in names)


def own_group():
    """A process group in the same session: if whoever started it dies while it is
    stopped, the kernel then tells it by SIGHUP."""
    if sys.version_info >= (3, 11):
        return {"process_group": 0}
    return {"preexec_fn": os.setpgrp}


def goes_first(pid):
    """Has the system end a trial before anybody else when memory runs out. Where it does
    not take that, its own choice holds."""
    try:
        Path(f"/proc/{pid}/oom_score_adj").write_text("1000")
    except OSError:
        pass


def name_of(number):
    try:
        return signal.Signals(number).name
    except ValueError:
        return "unknown"


class Scale:
    """Weighs a process group from time to time."""

    def __init__(self, group, limit):
        self.group, self.limit = group, limit
        self.pids, self.searched, self.weighed = [group], -SEARCHED_EACH, -WEIGHED_EACH

    def weigh(self, now):
        """Bytes that it holds, swapped ones included; None before it is time to look."""
        if now - self.weighed < WEIGHED_EACH:
            return None
        self.weighed = now
        if now - self.searched >= SEARCHED_EACH:
            self.searched, self.pids = now, members(self.group)
        held = sum(self.held(pid) for pid in self.pids)
        if held <= self.limit:
            return held
        # Processes that forked share pages, which were counted more than once.
        return sum(self.share(pid) or self.held(pid) for pid in self.pids)

    @staticmethod
    def held(pid):
        return bytes_behind(read(f"/proc/{pid}/status"), "VmRSS:", "VmSwap:")

    @staticmethod
    def share(pid):
        return bytes_behind(read(f"/proc/{pid}/smaps_rollup"), "Pss:", "SwapPss:")
