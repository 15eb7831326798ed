"""A file of results: one record of JSON a line, the plan first.

A record is written when what it tells has ended, so that an interruption loses what was
running and nothing else.
"""

import fcntl
import json
import os
from pathlib import Path

from failure import Failure


def read(path, program):
    """All whole records of a file that the program wrote."""
    records = []
    # What is behind the last line break was cut short.
    for number, line in enumerate(Path(path).read_text().split("\n")[:-1], 1):
        try:
            records.append(json.loads(line))
        except json.JSONDecodeError as error:
            raise Failure(f"{path}:{number} is not JSON ({error}); move the file away") from None
    whole = all(isinstance(record, dict) and "type" in record for record in records)
    if not (records and whole and records[0]["type"] == "plan"):
        raise Failure(f"{path} holds no results of {program}; move it away")
    return records


def lock(path):
    """Keeps other runs from a file until what this returns is closed."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    held = open(path.with_suffix(".lock"), "w")
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        held.close()
        raise Failure(f"another run writes to {path}: wait for it, or give another --out; "
                      "two runs at once would measure each other") from None
    return held


def as_text(records):
    return "".join(json.dumps(record, separators=(",", ":")) + "\n" for record in records)


def matching(records, **wanted):
    """The records with these values."""
    return [record for record in records
            if all(record.get(name) == value for name, value in wanted.items())]


class ResultFile:
    """The file of one comparison; it goes on where it was interrupted.

    `read` gives the records of a path. What it leaves out is removed from the file, or the
    next record would stand behind it.
    """

    def __init__(self, path, plan, read):
        self.path = Path(path)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        plan = {"type": "plan", **plan}
        self.records = [plan]
        if self.path.exists() and self.path.stat().st_size > 0:
            self.records = read(self.path)
            self.refuse_another(plan)
        self.replace()

    def refuse_another(self, plan):
        """Figures of different experiments must not mix."""
        own = self.records[0]
        other = sorted(name for name in own.keys() | plan.keys() if own.get(name) != plan.get(name))
        if other:
            raise Failure(f"{self.path} holds runs with another {', '.join(other)}: give the same "
                          "arguments, or another --out")

    def replace(self):
        """Writes the records in the place of the file."""
        part = self.path.with_suffix(".part")
        write(part, "w", self.records)
        part.replace(self.path)

    def add(self, *records):
        """Appends records; they are on the disk when this returns."""
        write(self.path, "a", records)
        self.records += records

    def all(self, **wanted):
        """The records with these values."""
        return matching(self.records, **wanted)

    def find(self, **wanted):
        """The first of them."""
        return next(iter(self.all(**wanted)), None)


def write(path, mode, records):
    try:
        with path.open(mode) as file:
            file.write(as_text(records))
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        # A line that was cut short is left out when the file is opened again.
        raise Failure(f"cannot write {path}: {error.strerror}; make room, and the same command "
                      "goes on from what stands there") from None
