"""`lissom search` as one of the methods, and what its log tells."""

import fcntl
import json
import math
import shutil
import subprocess
import time
from contextlib import suppress

import disk
import studies
from failure import Failure, MethodFailure
from trial import SETUP_DEADLINE

# Seconds for a search to end its trials.
PATIENCE = 60
# Seconds behind its budget after which a search is not believed to end.
LATE = 120
# Seconds between two looks at the disk.
LOOK = 1.0
# What each variant of the paper's method adds to it,
DREMEL = {
    "dremel": [],
    "dremel-full": ["--full"],
    **{name: ["--buckets", str(number), "--restart"] for name, number in studies.BUCKETS.items()},
    "dremel-both": ["--objective", "both-get"],
    "dremel-with-all": [],
    **{f"dremel-without-{it}": ["--without", it] for it in studies.FEATURES},
}
# and what each variant of any adds to the command line.
VARIANTS = {
    **{name: ["--as-published", *words] for name, words in DREMEL.items()},
    **{name: ["--further", how] for name, how in studies.SEARCHES.items()},
}


def words(program, subject, variant, place, directory, seed):
    """The command line. Repeats are left to the campaign, which repeats all methods."""
    constants = [word for name, value in subject.constants.items()
                 for word in ("--constant", f"{name}={value}")]
    return [str(program), "search", "--command", subject.command(), "--space", subject.space,
            "--format", subject.form, *constants, "--budget", f"{subject.budget:g}s",
            "--evaluation", f"{longest(subject, variant):g}s", "--repeats", "0", "--seed", str(seed),
            "--setup-deadline", f"{SETUP_DEADLINE}s",
            "--memory", str(subject.memory), "--directory", str(directory), "--json",
            "--out", str(place / "OPTIONS"), "--log", str(place / "search.jsonl"),
            "--report", str(place / "search.html"), *subject.more, *VARIANTS[variant]]


def longest(subject, variant):
    """Seconds of a search's full evaluation. Only where it uses its whole budget some run on."""
    full = "--full" in VARIANTS[variant]
    return round(subject.evaluation * (1 if full else studies.POINTS[-1]), 3)


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


def run(program, subject, variant, place, directory, seed, boot):
    """Runs the search, unless it has run to its end under this boot of the machine, and gives its
    log and its notes.

    One that was interrupted begins anew: trials that waited are gone, and a search that
    runs them again within its budget would have less time than the others."""
    place.mkdir(parents=True, exist_ok=True)
    directory.mkdir(parents=True, exist_ok=True)
    path, failure, least = place / "search.jsonl", None, math.inf
    command = words(program, subject, variant, place, directory, seed)
    origin = json.dumps({"boot": boot, "command": command}, indent=1)
    log = whole(path) if text(place / "search.origin") == origin else None
    if log is None:
        set_aside(path)
        disk.check(directory)
        (place / "search.origin").write_text(origin)
        failure, least = carry_out(command, place, directory, subject.budget)
        log = whole(path)
    if failure or log is None:
        # What it held is free again when it has ended.
        disk.check(directory, least)
        raise MethodFailure(failure or f"the search in {place} measured nothing; its report has "
                            "the causes")
    return log, notes(place / "search.txt")


def text(path):
    """What a file holds; None where there is none."""
    try:
        return path.read_text()
    except FileNotFoundError:
        return None


def whole(path):
    """The log of a search that has ended and found something; None of any other."""
    try:
        log = Log(path.read_text())
    except (FileNotFoundError, json.JSONDecodeError, KeyError):
        return None
    return log if log.ended and log.best in log.trials else None


def set_aside(path, patience=PATIENCE):
    """Gives the log of an earlier attempt another name, as soon as nobody writes to it."""
    if not path.exists():
        return
    with open(path) as file:
        until = time.monotonic() + patience
        while not taken(file):
            if time.monotonic() > until:
                raise Failure(f"another search writes to {path}: end it, or wait for it")
            time.sleep(0.2)
    number = 1
    while (other := path.with_name(f"search-{number}.jsonl")).exists():
        number += 1
    path.rename(other)


def taken(file):
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def carry_out(command, place, directory, budget):
    """Runs a search to its end, and gives why it failed, None if it did not, and the least that
    was free on the disk meanwhile. Whatever becomes of this program, the search ends with it."""
    with open(place / "search.txt", "w") as said, open(place / "search.err", "w+") as errors:
        try:
            child = subprocess.Popen([*with_this_program(), *command], stdin=subprocess.DEVNULL,
                                     stdout=said, stderr=errors, start_new_session=True)
        except OSError as error:
            raise Failure(f"cannot start {command[0]}: {error.strerror}") from None
        try:
            ended, least = watch(child, budget + LATE, directory)
        finally:
            end(child)
        if not ended:
            return f"the search in {place} did not end {LATE} s behind its budget", least
        if child.returncode != 0:
            errors.seek(0)
            last = (errors.read().strip().splitlines() or ["it said nothing"])[-1]
            return f"lissom search failed: {last}", least
        return None, least


def watch(child, seconds, directory):
    """Waits so long for a child: whether it ended, and the least that was free on the disk."""
    until, least = time.monotonic() + seconds, math.inf
    while time.monotonic() < until:
        # A search that ends takes its directory away before it has written its report.
        with suppress(FileNotFoundError):
            least = min(least, disk.free(directory))
        try:
            child.wait(min(LOOK, seconds))
            return True, least
        except subprocess.TimeoutExpired:
            continue
    return False, least


def with_this_program():
    """Words in front of a command that is to end when this program is killed."""
    return ["setpriv", "--pdeathsig", "TERM"] if shutil.which("setpriv") else []


def end(child):
    """Ends a search that has not ended: asked once, it ends its trials."""
    if child.poll() is None:
        child.terminate()
        try:
            child.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


def notes(path):
    """What the search says about itself, as that trials began anew for want of memory, or that
    its time was used up before all had been tried."""
    try:
        findings = json.loads(path.read_text())["findings"]
        return [*findings["cautions"], *findings["notes"]]
    except (OSError, ValueError, KeyError, TypeError):
        return []
