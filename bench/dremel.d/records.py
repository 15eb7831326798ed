"""The campaign's file: one record of JSON a line, the plan first, only ever appended to.

A record is written when what it tells has ended, so that an interruption loses what was
running and nothing else.
"""

import fcntl
import json
import os
from pathlib import Path

from failure import Failure


def read(path):
    """All whole records."""
    records = []
    # What is behind the last line break was cut short.
    for number, line in enumerate(Path(path).read_text().split("\n")[:-1], 1):
        try:
            records.append(json.loads(line))
        except json.JSONDecodeError as error:
            raise Failure(f"{path}:{number} is not JSON ({error}); move the file away") from None
    whole = all(isinstance(record, dict) and "type" in record for record in records)
    if not (records and whole and records[0]["type"] == "plan"):
        raise Failure(f"{path} holds no results of bench/dremel; move it away")
    return records


def as_line(record):
    return json.dumps(record, separators=(",", ":")) + "\n"


class Results:
    """The file of one campaign, and nobody else's meanwhile."""

    def __init__(self, path, plan):
        self.path = Path(path)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.lock = open(self.path.with_suffix(".lock"), "w")
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self.lock.close()
            raise Failure(f"another run writes to {self.path}: wait for it, or give another "
                          "--out; two runs at once would measure each other") from None
        try:
            self.open({"type": "plan", **plan})
        except Failure:
            self.lock.close()
            raise

    def open(self, plan):
        if self.path.exists() and self.path.stat().st_size > 0:
            self.records = read(self.path)
            self.refuse_another(plan)
            self.cut()
        else:
            self.records = []
            self.add(plan)

    def cut(self):
        """Removes a line that was cut short, or the next one would be behind it."""
        text = self.path.read_bytes()
        whole = text.rfind(b"\n") + 1
        if whole < len(text):
            os.truncate(self.path, whole)

    def refuse_another(self, plan):
        """Figures of different experiments must not mix."""
        own = self.records[0]
        other = sorted(name for name in own.keys() | plan.keys() if own.get(name) != plan.get(name))
        if other:
            raise Failure(f"{self.path} holds runs with another {', '.join(other)}: give the same "
                          "arguments, or another --out")

    def add(self, record):
        """Appends a record; it is on the disk when this returns."""
        with self.path.open("a") as file:
            file.write(as_line(record))
            file.flush()
            os.fsync(file.fileno())
        self.records.append(record)

    def all(self, **wanted):
        """The records with these values."""
        return matching(self.records, **wanted)

    def find(self, **wanted):
        """The first of them."""
        return next(iter(self.all(**wanted)), None)

    def close(self):
        self.lock.close()


def matching(records, **wanted):
    return [record for record in records
            if all(record.get(name) == value for name, value in wanted.items())]
