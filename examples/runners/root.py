"""The directory of a search on one machine."""

import fcntl
import os
import shutil
from pathlib import Path

from processes import kill_strays

# In the directory of a search: nobody else has such a file.
LOCK = ".lissom-runner.lock"


class Root:
    """It is shared with other workers there; who leaves last removes it, and so does the
    next search if nobody could."""

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
            (self.path / LOCK).unlink()
            if not self.keep:
                shutil.rmtree(self.path, ignore_errors=True)


def lock(path):
    """A lock that many may hold, and that ends with whoever holds it."""
    while True:
        path.mkdir(exist_ok=True)
        try:
            file = open(path / LOCK, "a", encoding="utf-8")
            fcntl.flock(file, fcntl.LOCK_SH)
            if os.path.samestat(os.fstat(file.fileno()), os.stat(path / LOCK)):
                return file
            file.close()
        except FileNotFoundError:
            # Somebody has just removed it.
            continue


def clear(directory):
    """Ends and removes what searches have left that were killed."""
    for path in directory.glob(f"lissom-*/{LOCK}"):
        try:
            with open(path, encoding="utf-8") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                kill_strays(path.parent)
                shutil.rmtree(path.parent, ignore_errors=True)
        except OSError:
            # Another search has it, or another user.
            continue
