"""What a trial says in lines of JSON (docs/search.md), and what samples come to. `lissom search`
does the same for its own trials; crates/trials/src/runner/recorded.json has lines, and what
they come to, by which both are tested."""

import json
import math

# Metrics of which the most counts, and one that everybody counts from the start.
PEAKS = ("memory_bytes", "space_amplification", "sessions_visited")
FROM_THE_START = "write_amplification"
# Seconds of a window that seems to take no time.
LEAST_SECONDS = 1e-6
# So many times the longest time between two samples is silence.
SILENT = 2
# What a line may be.
READY, SAMPLE, FAILURE, WORDS = "ready", "sample", "failure", "words"


def said(line):
    """(what a line is, the sample or the failure if it is one)."""
    members = parsed(line)
    if members is None:
        return WORDS, None
    error = members.get("error")
    # Numbers, null and what is empty say that nothing is wrong, or how often.
    if error is True or isinstance(error, (dict, list)) or isinstance(error, str) and error.strip():
        words = error if isinstance(error, str) else json.dumps(error)
        return FAILURE, " ".join(words.split())
    if members.get("ready") is True:
        return READY, None
    sample = {name: it for name, it in members.items() if number(it)}
    if not sample.keys() - {"seconds"}:
        return WORDS, None
    named = members.get("cumulative")
    return SAMPLE, {**sample, "cumulative": named if isinstance(named, list) else []}


def parsed(line):
    """The members of an object; None of anything else. Numbers that JSON does not have, or that
    are beyond measure, are None."""
    try:
        members = json.loads(line, parse_float=finite, parse_int=whole, parse_constant=finite)
    except (ValueError, RecursionError):
        return None
    return members if isinstance(members, dict) else None


def finite(text):
    value = float(text)
    return value if math.isfinite(value) else None


def whole(text):
    return None if finite(text) is None else int(text)


def number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


class Metric:
    """One metric over all samples so far."""

    def __init__(self):
        self.weighted, self.seconds, self.most, self.last = 0.0, 0.0, -math.inf, 0.0
        self.cumulative = False

    def take(self, value, seconds, cumulative):
        self.most, self.last = max(self.most, value), value
        self.weighted += value * seconds
        self.seconds += seconds
        self.cumulative = cumulative

    def value(self, name):
        if name in PEAKS:
            return self.most
        if self.cumulative or name == FROM_THE_START:
            return self.last
        return self.weighted / self.seconds


class Gauge:
    """Puts samples together."""

    def __init__(self):
        self.known, self.series, self.samples, self.at = {}, [], 0, 0.0
        # The longest time that a sample let pass since the one before.
        self.longest = 0.0

    def take(self, sample, now):
        """A sample, `now` seconds after the start."""
        numbers = {name: it for name, it in sample.items() if number(it)}
        told = numbers.pop("seconds", 0)
        seconds = max(told if told > 0 else now - self.at, LEAST_SECONDS)
        self.longest = max(self.longest, now - self.at)
        self.at = now
        self.samples += 1
        for name, value in numbers.items():
            cumulative = name in sample.get("cumulative", ())
            self.known.setdefault(name, Metric()).take(value, seconds, cumulative)
        if "throughput" in numbers:
            self.series.append([round(now, 2), round(max(numbers["throughput"], 0), 1)])

    def is_silent(self, now):
        """Whether it has been silent for far longer than ever between two samples."""
        return now - self.at > SILENT * self.longest

    def most(self, name):
        """The most of a metric; None before it was told."""
        return self.known[name].most if name in self.known else None

    def metrics(self):
        return {name: it.value(name) for name, it in self.known.items()}
