"""The campaign's file."""

import fcntl
from pathlib import Path

import result_file
from failure import Failure
from machine import boot


def read(path):
    """All whole records."""
    return result_file.read(path, "bench/dremel")


class Results(result_file.ResultFile):
    """The file of one campaign, and nobody else's meanwhile. Each record has the machine's boot
    on which it was made."""

    def __init__(self, path, plan):
        path, self.boot = Path(path), boot()
        path.parent.mkdir(parents=True, exist_ok=True)
        self.lock = open(path.with_suffix(".lock"), "w")
        try:
            self.take_lock(path)
            super().__init__(path, plan, read)
        except Failure:
            self.close()
            raise

    def take_lock(self, path):
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise Failure(f"another run writes to {path}: wait for it, or give another --out; "
                          "two runs at once would measure each other") from None

    def add(self, *records):
        super().add(*({**it, "boot": self.boot} for it in records))

    def close(self):
        self.lock.close()
