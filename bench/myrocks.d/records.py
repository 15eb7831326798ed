"""The results. A run's seconds and its figures are written together once it has ended,
figures last."""

import result_file


def read(path):
    """All records of what was written to its end."""
    records = result_file.read(path, "bench/myrocks")
    while records[-1]["type"] == "second":
        records.pop()
    return records


class Results(result_file.ResultFile):
    """The file of one comparison."""

    def __init__(self, path, plan):
        super().__init__(path, plan, read)
