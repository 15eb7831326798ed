"""What several tests need. It comes first, for it says where the modules lie."""

import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.with_name("common.d"))]


def subject(name):
    """One of the main comparison, in its own size."""
    import settings
    import subjects
    sizes, table = settings.load()
    return subjects.of_setting(table[name], sizes, Path("/d"), "/bin/lissom")


def skip(test, why):
    """Leaves a test out. Where LISSOM_NO_SKIP is set, it fails instead."""
    if "LISSOM_NO_SKIP" in os.environ:
        test.fail(why)
    test.skipTest(why)


def reading(at, seconds, throughput):
    return {"at": at, "seconds": seconds, "metrics": {"throughput": throughput}}


def final(contender, turn, throughput, **more):
    metrics = {"throughput": throughput, "get_p99_micros": 1e6 / throughput}
    return {"type": "final", "study": "main", "subject": "ycsb-a", "contender": contender,
            "round": turn, "metrics": metrics, **more}


def all_records():
    found = [{"type": "plan"}, {"type": "machine", "processor": "P", "cores": 2, "memory": "24 GiB",
                                "system": "Linux"}]
    for method, base in (("dremel", 900), ("random", 700), ("single-task", 890), ("multi-task", 800)):
        for number in range(1, 5):
            found.append({"type": "trial", "subject": "ycsb-a", "method": method, "number": number,
                          "configuration": {}, **reading(100.0 * number, 30, base - 40 + 10 * number),
                          "series": [[1, 900], [30, base]]})
        found.append({"type": "found", "subject": "ycsb-a", "method": method, "number": 4,
                      "configuration": {}, "spent": 400.0})
        found += [final(method, turn, base + 10 * turn) for turn in range(3)]
    found += [{"type": "early", "study": "main", "subject": "ycsb-a", "round": turn,
               "contender": "dremel@50%", "as": "dremel"} for turn in range(3)]
    for contender, base in (("guide", 400), ("rocksdb", 300)):
        found += [final(contender, turn, base + turn) for turn in range(3)]
    return [*found, final("rocksdb-unscaled", 0, 2000)]
