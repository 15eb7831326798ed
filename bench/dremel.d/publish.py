"""What is kept of a campaign in the repository: slim records, the tables, the pictures."""

import re
from pathlib import Path

import report
import result_file
import tables
from failure import Failure

PLACE = Path(__file__).resolve().parent.parent / "results"
# Figures of a trial that are kept; of a search's readings the throughput.
METRICS = ("throughput", "get_p99_micros", "put_p99_micros", "memory_bytes",
           "write_amplification", "space_amplification")
# A path from the root on, but for the name that it ends with.
PATH = re.compile(r"(?<![\w.~])~?/(?:[\w.@+~-]+/)*(?=[\w.@+~-])")


def publish(records, wanted, known, place):
    """Writes everything in the place of what is there, and gives the paths; arguments as those
    of report.page. Pictures that there are no samples for stay as they are, since records may be
    slim ones that were published before."""
    if not wanted:
        raise Failure("nothing was measured that could be published: `bench/dremel run` measures")
    records = [without_paths(it) for it in records]
    drawings = {f"{study.name}-{study.subject}-{what}.svg": drawing
                for study, what, drawing in report.drawings(records, wanted, known)}
    # Tables tell what slim records tell, so that whoever has these can check them.
    kept = slim(records)
    files = {"dremel.jsonl": result_file.as_text(kept),
             "dremel.report/table.txt": tables.render(kept, wanted),
             **{f"dremel.report/{name}": text for name, text in drawings.items()}}
    pictures = place / "dremel.report"
    pictures.mkdir(parents=True, exist_ok=True)
    for old in pictures.glob("*.svg"):
        if not any(old.name.startswith(f"{it.name}-{it.subject}-") for it in wanted):
            old.unlink()
    for name, text in files.items():
        (place / name).write_text(text)
    return [place / it for it in files]


def slim(records):
    """Records without what tables do not need: samples but of trials in full, by which is told
    whether ranks hold, and rarer metrics."""
    return [slim_record(it) for it in records]


def slim_record(record):
    kept = dict(record)
    if record["type"] != "full":
        kept.pop("series", None)
    if "metrics" in record:
        kept["metrics"] = {it: record["metrics"][it] for it in METRICS if it in record["metrics"]}
    if "readings" in record:
        kept["readings"] = [{**it, "metrics": {"throughput": it["metrics"]["throughput"]}}
                            if "throughput" in it["metrics"] else it
                            for it in record["readings"]]
    return kept


def without_paths(value):
    """The same with the last names of paths in its texts."""
    if isinstance(value, str):
        return PATH.sub("", value)
    if isinstance(value, list):
        return [without_paths(it) for it in value]
    if isinstance(value, dict):
        return {name: without_paths(it) for name, it in value.items()}
    return value
