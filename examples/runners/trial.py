"""A trial: its processes, what they say and what they weigh."""

import os
import queue
import signal
import subprocess
import threading
import time

from processes import PATIENCE, VARIABLE, Scale
from processes import goes_first, kill_strays, members, name_of, own_group

# Characters of a line that are passed on; a message must fit into 64 KiB.
LONGEST_LINE = 8_000
# What is longer than that without a line break is no line.
LONGEST_REST = 1 << 16
# Lines that may wait to be passed on; a trial that writes faster waits.
WAITING_LINES = 1_024
# Seconds between two messages of the weight.
TOLD_EACH = 0.5


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
        if len(self.rest) > LONGEST_REST:
            self.rest = b""
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
