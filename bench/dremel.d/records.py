"""The campaign's file."""

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
        self.lock = result_file.lock(path)
        try:
            super().__init__(path, plan, read)
        except Failure:
            self.close()
            raise

    def add(self, *records):
        super().add(*({**it, "boot": self.boot} for it in records))

    def close(self):
        self.lock.close()
