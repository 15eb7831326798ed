"""The results: one record of JSON a line, the plan first. A run's seconds and its figures
are written together once it has ended, figures last."""

import json
import os
from pathlib import Path

from failure import Failure


def read(path):
    """All records of what was written to its end."""
    records = []
    # What is behind the last line break was cut short.
    for number, line in enumerate(Path(path).read_text().split("\n")[:-1], 1):
        try:
            records.append(json.loads(line))
        except json.JSONDecodeError as error:
            raise Failure(f"{path}:{number} is not JSON ({error}); move the file away") from None
    whole = all(isinstance(record, dict) and "type" in record for record in records)
    if not (records and whole and records[0]["type"] == "plan"):
        raise Failure(f"{path} holds no results of bench/myrocks; move it away")
    while records[-1]["type"] == "second":
        records.pop()
    return records


def as_text(records):
    return "".join(json.dumps(record, separators=(",", ":")) + "\n" for record in records)


class Results:
    """The file of one comparison; it goes on where it was interrupted."""

    def __init__(self, path, plan):
        self.path = Path(path)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        plan = {"type": "plan", **plan}
        self.records = [plan]
        if self.path.exists() and self.path.stat().st_size > 0:
            self.records = read(self.path)
            self.refuse_another(plan)
        part = self.path.with_suffix(".part")
        part.write_text(as_text(self.records))
        part.replace(self.path)

    def refuse_another(self, plan):
        """Figures of different experiments must not mix."""
        own = self.records[0]
        other = sorted(name for name in own.keys() | plan.keys() if own.get(name) != plan.get(name))
        if other:
            raise Failure(f"{self.path} holds runs with another {', '.join(other)}: give the same "
                          "arguments, or another --out")

    def add(self, records):
        """Appends records."""
        with self.path.open("a") as file:
            file.write(as_text(records))
            file.flush()
            os.fsync(file.fileno())
        self.records += records

    def find(self, **wanted):
        """The first record with these values."""
        matching = (record for record in self.records
                    if all(record.get(name) == value for name, value in wanted.items()))
        return next(matching, None)
