"""Trials on one machine: their processes, their directories, their memory.

A host is told what to do and says what happened, both in messages of the protocol
between lissom and a runner (docs/search.md). It decides nothing, and needs nothing but
Python and Linux. A runner for many machines has one on each.
"""

import fcntl
import os
import queue
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

# Names a trial in the environment of all its processes.
VARIABLE = "LISSOM_TRIAL"
# Characters of a line that are passed on; a message must fit into 64 KiB.
LONGEST_LINE = 8_000
# Lines that may wait to be passed on; a trial that writes faster waits.
WAITING_LINES = 1_024
# Seconds between two looks, between two weighings, between two messages of the weight,
# and between two searches for members of a process group.
TICK, WEIGHED_EACH, TOLD_EACH, SEARCHED_EACH = 0.01, 0.25, 0.5, 2.0
# A trial that was asked to end has so many seconds.
PATIENCE = 5.0
# What is passed on in bundles; everything else is said at once.
PATIENT = ("line", "words", "weighed")


def fill(words, values):
    """Puts values where their names stand, from left to right, so that a value that
    looks like a name stays as it is."""
    filled = []
    for word in words:
        text = ""
        while word:
            name = next((name for name in values if word.startswith(name)), None)
            text += word[0] if name is None else values[name]
            word = word[1 if name is None else len(name):]
        filled.append(text)
    return filled


# Processes, by the files under /proc.


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


class Follow:
    """A file into which a trial writes its lines."""

    def __init__(self, path):
        self.path, self.offset, self.rest = path, 0, b""

    def lines(self):
        """Those that were written to their end since this was last asked."""
        try:
            if not self.path.is_file():
                return []
            if self.path.stat().st_size < self.offset:
                self.offset, self.rest = 0, b""
            with open(self.path, "rb") as file:
                file.seek(self.offset)
                piece = file.read(1 << 20)
        except OSError:
            return []
        self.offset += len(piece)
        *whole, self.rest = (self.rest + piece).split(b"\n")
        return whole


def shown(line):
    return line.decode(errors="replace").rstrip("\r\n")[:LONGEST_LINE]


class Trial:
    """A trial that was started: one process group, and what has left it."""

    def __init__(self, order, directory, shared, limit):
        self.run, self.directory = order["run"], directory
        (directory / "data").mkdir(parents=True)
        options, metrics = directory / "OPTIONS", directory / "metrics"
        options.write_text(order["options"])
        words = order["command"]
        follows = any("{metrics}" in word for word in words)
        self.follow = Follow(metrics) if follows else None
        places = {"{options}": options, "{directory}": directory / "data",
                  "{metrics}": metrics, "{shared}": shared}
        words = fill(words, {name: str(path) for name, path in places.items()})
        self.begun = time.monotonic()
        self.process = subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, VARIABLE: str(directory)},
            **own_group(),
        )
        self.group = self.process.pid
        goes_first(self.group)
        self.heard = queue.Queue(WAITING_LINES)
        printed = "words" if follows else "line"
        streams = ((self.process.stdout, printed), (self.process.stderr, "words"))
        self.readers = [self.listen(stream, kind) for stream, kind in streams]
        self.scale = Scale(self.group, limit)
        self.heaviest, self.told = 0, 0.0
        self.paused = False
        # When it was asked to end; None until then.
        self.ending = None

    def listen(self, stream, kind):
        def read_lines():
            with stream:
                for line in iter(lambda: stream.readline(1 << 16), b""):
                    self.heard.put((kind, self.at(), shown(line)))

        reader = threading.Thread(target=read_lines, daemon=True)
        reader.start()
        return reader

    def at(self):
        """Seconds since it was started."""
        return time.monotonic() - self.begun

    def says(self, message, **more):
        return {"message": message, "run": self.run, **more}

    def signal(self, number):
        try:
            os.killpg(self.group, number)
        except ProcessLookupError:
            pass

    def pause(self):
        self.signal(signal.SIGSTOP)
        self.paused = True
        at = self.at()
        # What it wrote before lies in front of that.
        return [*self.lines(), self.says("paused", at=at)]

    def go_on(self):
        at = self.at()
        self.paused = False
        self.signal(signal.SIGCONT)
        return [self.says("resumed", at=at)]

    def end(self):
        """Asks its processes to end; it is over when they have."""
        if self.ending is None:
            self.ending = time.monotonic()
            self.signal(signal.SIGTERM)
            # A stopped process takes no signal but this one and SIGKILL.
            self.signal(signal.SIGCONT)

    def lines(self):
        """What it said and nobody was told yet."""
        news = []
        while not self.heard.empty() and len(news) < WAITING_LINES:
            kind, at, line = self.heard.get()
            news.append(self.says(kind, at=at, line=line))
        if self.follow:
            at = self.at()
            news += [self.says("line", at=at, line=shown(line)) for line in self.follow.lines()]
        return news

    def weight(self):
        """What it holds, now and then, and with it that it lives."""
        at = self.at()
        weight = None if self.paused else self.scale.weigh(at)
        self.heaviest = max(self.heaviest, weight or 0)
        if self.paused or at - self.told < TOLD_EACH:
            return []
        self.told, heaviest, self.heaviest = at, self.heaviest, 0
        return [self.says("weighed", at=at, memory_bytes=heaviest)]

    def has_ended(self):
        """Whether its leader has, which is not reaped, so that its number stays its own."""
        flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
        try:
            return os.waitid(os.P_PID, self.group, flags) is not None
        except ChildProcessError:
            return True

    def last_words(self):
        """What it said before it ended by itself, and how that was."""
        at = self.at()
        self.finish()
        status = self.process.returncode
        killed = status == -signal.SIGKILL
        how = f"signal: {-status} ({name_of(-status)})" if status < 0 else f"exit status: {status}"
        return [*self.lines(), self.says("ended", at=at, how=how, killed=killed)]

    def is_over(self):
        """Whether nothing is left of one that was asked to end."""
        gone = self.has_ended() and not members(self.group)
        if not gone and time.monotonic() - self.ending > PATIENCE:
            self.signal(signal.SIGKILL)
        return gone

    def finish(self):
        """Ends what is left of it."""
        self.signal(signal.SIGKILL)
        kill_strays(self.directory)
        self.process.wait()
        for reader in self.readers:
            # One that waits since nobody takes its lines is let go.
            while reader.is_alive() and self.heard.full():
                self.heard.get()
            reader.join(0.5)
        self.process.stdin.close()


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


class Root:
    """The directory of a search on a machine, shared with other workers there; who
    leaves last removes it, and so does the next search if nobody could."""

    def __init__(self, directory, search, worker, keep):
        directory = Path(directory).resolve()
        directory.mkdir(parents=True, exist_ok=True)
        clear(directory)
        self.path, self.keep = directory / f"lissom-{search}", keep
        self.lock = lock(self.path)
        self.shared, self.own = self.path / "shared", self.path / worker
        self.shared.mkdir(exist_ok=True)
        self.own.mkdir()

    def close(self):
        if not self.keep:
            shutil.rmtree(self.own, ignore_errors=True)
        with self.lock as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                # Others are still there.
                return
            # Of a worker that died before.
            kill_strays(self.path)
            shutil.rmtree(self.shared, ignore_errors=True)
            # Without its lock, a directory is not taken for something left behind.
            (self.path / "lock").unlink()
            if not self.keep:
                shutil.rmtree(self.path, ignore_errors=True)


def lock(path):
    """A lock that many may hold, and that ends with whoever holds it."""
    while True:
        path.mkdir(exist_ok=True)
        try:
            file = open(path / "lock", "a", encoding="utf-8")
            fcntl.flock(file, fcntl.LOCK_SH)
            if os.path.samestat(os.fstat(file.fileno()), os.stat(path / "lock")):
                return file
            file.close()
        except FileNotFoundError:
            # Somebody has just removed it.
            continue


def clear(directory):
    """Ends and removes what searches have left that were killed."""
    for path in directory.glob("lissom-*/lock"):
        try:
            with open(path, encoding="utf-8") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                kill_strays(path.parent)
                shutil.rmtree(path.parent, ignore_errors=True)
        except OSError:
            # Another search has it, or another user.
            continue


class Host:
    """Runs trials as it is told; one runs at a time, others wait."""

    def __init__(self, directory, search, worker, memory_bytes, keep, place):
        self.root = Root(directory, search, worker, keep)
        self.memory_bytes, self.keep, self.place = memory_bytes, keep, place
        self.trials = {}

    def turn(self, orders, wait):
        """Carries out orders, and gives what happened within so many seconds; at once if
        it is nothing to be bundled."""
        news = []
        for order in orders:
            news += self.act(order)
        until = time.monotonic() + wait
        while True:
            for trial in list(self.trials.values()):
                news += self.look(trial)
            if time.monotonic() >= until or any(it["message"] not in PATIENT for it in news):
                return news
            time.sleep(TICK)

    def act(self, order):
        kind, run = order["message"], order["run"]
        if kind == "start":
            return self.start(order)
        trial = self.trials.get(run)
        if trial is None:
            # It has ended meanwhile.
            return [{"message": "stopped", "run": run}] if kind == "stop" else []
        if kind == "pause":
            return trial.pause()
        if kind == "go_on":
            return trial.go_on()
        trial.end()
        return []

    def start(self, order):
        run = order["run"]
        directory = self.root.own / f"{order['label']}-{run}"
        try:
            trial = Trial(order, directory, self.root.shared, self.memory_bytes)
        except OSError as error:
            self.remove(directory)
            program = order["command"][0]
            why = f"cannot start {program!r} on {self.place}: {error}; check the command and the disk"
            return [{"message": "failed", "why": why}]
        self.trials[run] = trial
        return [trial.says("started", place=self.place)]

    def look(self, trial):
        """What has become of a trial."""
        if trial.ending is not None:
            trial.lines()
            return self.forget(trial) if trial.is_over() else []
        if trial.has_ended():
            news = trial.last_words()
            del self.trials[trial.run]
            self.remove(trial.directory)
            return news
        return trial.lines() + trial.weight()

    def forget(self, trial):
        trial.finish()
        del self.trials[trial.run]
        remark = self.remove(trial.directory)
        return [trial.says("stopped", **({"remark": remark} if remark else {}))]

    def remove(self, directory):
        """Removes a trial's directory; a sentence if that fails."""
        if self.keep:
            return None
        try:
            shutil.rmtree(directory)
        except FileNotFoundError:
            return None
        except OSError as error:
            return f"{directory} on {self.place} could not be removed ({error}): remove it"
        return None

    def close(self):
        """Ends everything."""
        for trial in self.trials.values():
            trial.end()
        while self.trials:
            for trial in list(self.trials.values()):
                self.look(trial)
            time.sleep(TICK)
        self.root.close()
