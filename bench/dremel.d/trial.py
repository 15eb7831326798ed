"""One trial: a child that says what it measures in lines of JSON (docs/search.md)."""

import os
import queue
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from pathlib import Path

import disk
import samples
from failure import Failure

# Seconds of set-up, of silence at least, and between SIGTERM and SIGKILL. The first trial
# that needs a data set makes it, and may take longer.
SETUP_DEADLINE, FIRST_SETUP_DEADLINE, LEAST_DEADLINE, GRACE = 240, 900, 10, 5
# Of the operations of all trials of a search, as `lissom search` has it.
SEED = 1
# What tells a program's memory.
MEMORY = "memory_bytes"
# Seconds between two looks at the memory of a program that does not tell it.
WEIGHED_EACH = 0.25
PAGE = os.sysconf("SC_PAGE_SIZE")


def filled(words, **values):
    """The command line with its places filled."""
    for name, value in values.items():
        words = [word.replace("{" + name + "}", str(value)) for word in words]
    return words


class Runner:
    """Runs trials one after the other, each in a new directory."""

    def __init__(self, directory, memory):
        self.directory, self.memory = Path(directory), memory

    def run(self, words, text, seconds, setup_deadline=SETUP_DEADLINE, seed=SEED):
        """What came of a configuration whose file has this text: metrics, or a failure. The seed
        is that of the operations."""
        self.directory.mkdir(parents=True, exist_ok=True)
        # What a trial has left whose harness was killed.
        for left in self.directory.glob("trial-*"):
            shutil.rmtree(left, ignore_errors=True)
        disk.check(self.directory)
        place = Path(tempfile.mkdtemp(prefix="trial-", dir=self.directory))
        options = place / "OPTIONS"
        options.write_text(text)
        words = filled(words, options=options, directory=place / "database",
                       seconds=int(seconds * 1.1) + 11, seed=seed)
        try:
            with open(place / "errors", "w+") as errors:
                found = self.watch(words, errors, seconds, setup_deadline)
            if "failure" in found:
                disk.check(self.directory)
            return found
        finally:
            shutil.rmtree(place, ignore_errors=True)

    def watch(self, words, errors, seconds, setup_deadline):
        environment = dict(os.environ, LISSOM_TRIAL="bench-dremel")
        try:
            child = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                     stderr=errors, text=True, errors="replace",
                                     env=environment, start_new_session=True)
        except OSError as error:
            raise Failure(f"cannot start {words[0]}: {error.strerror}") from None
        lines = queue.Queue()
        threading.Thread(target=listen, args=(child.stdout, lines), daemon=True).start()
        try:
            found = follow(lines, seconds, self.memory, time.monotonic, setup_deadline,
                           lambda: resident(child.pid))
        finally:
            end(child)
        if found.get("failure") == "":
            errors.seek(0)
            last = (errors.read().strip().splitlines() or ["it said nothing"])[-1]
            found["failure"] = f"it ended by itself ({child.returncode}): {last}"
        return found


def listen(stream, lines):
    with stream:
        for line in stream:
            lines.put((time.monotonic(), line))
    lines.put((time.monotonic(), None))


def resident(group):
    """Bytes of memory that the processes of a group hold."""
    pages = 0
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            # Behind the name, which may hold anything: fields 3 and so on of proc_pid_stat(5).
            fields = place.read_bytes().rpartition(b")")[2].split()
        except OSError:
            continue
        if len(fields) > 21 and int(fields[2]) == group:
            pages += int(fields[21])
    return pages * PAGE


def follow(lines, seconds, memory, clock, setup_deadline=SETUP_DEADLINE, weigh=lambda: 0):
    """Hears a trial out. A failure without words means that it ended by itself. `weigh` tells
    the memory of one that does not tell it."""
    started, ready, heard = clock(), None, None
    gauge, weighed, held = samples.Gauge(), started, 0
    deadline = max(LEAST_DEADLINE, seconds / 2)
    while True:
        now = clock()
        # What making a data set takes is nobody's.
        untold = ready is not None and gauge.most(MEMORY) is None
        if untold and now - weighed >= WEIGHED_EACH:
            weighed, held = now, max(held, weigh())
        if max(held, gauge.most(MEMORY) or 0) > memory:
            return too_large(max(held, gauge.most(MEMORY) or 0), memory)
        if ready is None and now - started > setup_deadline:
            return {"failure": f"it was not ready after {setup_deadline} s"}
        # Samples tell nothing of a silence behind them.
        heard_of = gauge.samples and not gauge.is_silent(now - (ready or now))
        if ready is not None and now - ready >= seconds and heard_of:
            return measured(gauge, now - ready, ready - started, held)
        if ready is not None and now - (heard or ready) > deadline:
            return {"failure": f"no sample came for {deadline:.0f} s"}
        try:
            at, line = lines.get(timeout=0.1)
        except queue.Empty:
            continue
        if line is None:
            return {"failure": ""}
        kind, what = samples.said(line)
        if kind == samples.FAILURE:
            return {"failure": what}
        if ready is None and kind in (samples.READY, samples.SAMPLE):
            # Its first sample ends the set-up of one that never says so.
            ready = at
        elif kind == samples.SAMPLE:
            heard = at
            gauge.take(what, at - ready)


def too_large(held, memory):
    return {"failure": f"it held {held / 2**20:.0f} MiB, where {memory / 2**20:.0f} MiB "
                       "are allowed"}


def measured(gauge, seconds, setup, held):
    """What a trial came to that has run so long; `held` is its memory as it was weighed."""
    metrics = {MEMORY: held, **gauge.metrics()}
    if "throughput" not in metrics:
        return {"failure": "no sample had a throughput"}
    return {"seconds": seconds, "setup": setup, "metrics": metrics, "series": gauge.series}


def end(child):
    """Ends everything that the child started."""
    for kind, patience in ((signal.SIGTERM, GRACE), (signal.SIGKILL, None)):
        try:
            os.killpg(child.pid, kind)
            child.wait(patience)
            break
        except ProcessLookupError:
            child.wait()
            break
        except subprocess.TimeoutExpired:
            continue
    try:
        # What has outlived the leader of the group.
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    child.stdin.close()
