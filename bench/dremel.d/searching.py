"""`lissom search` as one of the methods, and what its log tells."""

import json
import subprocess

from failure import Failure

# Seconds for a search to end its trials.
PATIENCE = 60
# What each variant of the method adds to the command line.
VARIANTS = {
    "dremel": [],
    "dremel-full": ["--full"],
    "dremel-3-buckets": ["--buckets", "3"],
    "dremel-4-buckets": ["--buckets", "4"],
    "dremel-p99": ["--objective", "p99-get"],
    "dremel-both": ["--objective", "both-get"],
    **{f"dremel-without-{feature}": ["--without", feature] for feature in (
        "compaction_frequency", "write_buffer_full_frequency", "read_sstable_cost",
        "block_cache_hit_rate")},
}


def words(program, subject, variant, place, directory, seed):
    """The command line. Repeats are left to the campaign, which repeats all methods."""
    constants = [word for name, value in subject.constants.items()
                 for word in ("--constant", f"{name}={value}")]
    return [str(program), "search", "--command", subject.command(), "--space", subject.space,
            "--format", subject.form, *constants, "--budget", f"{subject.budget:g}s",
            "--evaluation", f"{subject.evaluation:g}s", "--repeats", "0", "--seed", str(seed),
            "--memory", str(subject.memory), "--directory", str(directory),
            "--out", str(place / "OPTIONS"), "--log", str(place / "search.jsonl"),
            "--report", str(place / "search.html"), *VARIANTS[variant]]


class Log:
    """The last search of a log."""

    def __init__(self, text):
        events = []
        # What is behind the last line break was cut short.
        for line in text.split("\n")[:-1]:
            event = json.loads(line)
            events = [event] if event["event"] == "begin" else [*events, event]
        self.trials, self.best, self.ended, self.spent = {}, None, False, 0.0
        for event in events:
            self.take(event)

    def take(self, event):
        self.spent = max(self.spent, event.get("at", 0.0))
        if event["event"] == "end":
            self.ended = True
        elif event["event"] == "decision":
            self.decided(event["decision"])
        elif event["event"] == "measurement":
            self.measured(event["at"], event["measurement"])

    def decided(self, decision):
        if decision["decision"] == "start":
            self.trials.setdefault(decision["trial"], {
                "number": decision["trial"], "configuration": decision["configuration"],
                "readings": [], "series": []})
        elif decision["decision"] == "done":
            self.best = decision.get("best")

    def measured(self, at, measurement):
        trial, outcome = self.trials[measurement["trial"]], measurement["outcome"]
        if outcome["result"] == "measured":
            trial["readings"].append({"at": at, "seconds": outcome["seconds"],
                                      "metrics": outcome["metrics"]})
            if outcome["setup_seconds"] > 0:
                trial["setup"] = outcome["setup_seconds"]
            # A trial that began anew is measured from its start again.
            begin = outcome["series"][0]["second"] if outcome["series"] else float("inf")
            trial["series"] = [it for it in trial["series"] if it[0] < begin]
            trial["series"] += [[round(it["second"], 2), round(it["throughput"], 1)]
                                for it in outcome["series"]]
        elif outcome["result"] == "failed":
            trial["failure"] = f"{outcome['cause']}: {outcome['detail']}"

    def records(self):
        """Each trial with its last reading."""
        found = []
        for trial in self.trials.values():
            last = trial["readings"][-1] if trial["readings"] else {}
            kept = {name: trial[name] for name in
                    ("number", "configuration", "readings", "series", "setup", "failure")
                    if name in trial}
            found.append({**kept, **{name: last[name] for name in ("at", "seconds", "metrics")
                                     if name in last}})
        return found


def run(program, subject, variant, place, directory, seed):
    """Runs the search, or goes on with it, and gives its log."""
    place.mkdir(parents=True, exist_ok=True)
    path = place / "search.jsonl"
    log = Log(path.read_text()) if path.exists() else None
    if log is None or not log.ended:
        with open(place / "search.txt", "w") as said:
            child = subprocess.Popen(words(program, subject, variant, place, directory, seed),
                                     stdin=subprocess.DEVNULL, stdout=said,
                                     stderr=subprocess.PIPE, text=True)
            try:
                _, errors = child.communicate()
            except KeyboardInterrupt:
                # It was asked to end as well, and has trials to end first.
                child.wait(PATIENCE)
                raise
        if child.returncode != 0 or not path.exists():
            last = (errors.strip().splitlines() or ["it said nothing"])[-1]
            raise Failure(f"lissom search failed: {last}; the same command goes on from "
                          f"{place / 'search.jsonl'}")
        log = Log(path.read_text())
    if log.best is None:
        raise Failure(f"the search in {place} measured nothing; its report has the causes")
    return log
