#!/usr/bin/env python3
"""Runs db_bench as a trial of `lissom search --command` (docs/search.md).

    lissom search --space dremel --format flags \
        --constant entries=1000000 --constant entry_bytes=116 \
        --command 'examples/db_bench_trial.py --flags {options} --directory {directory}'

Fills a database, runs a benchmark without end, says that it is ready when that has
begun, and turns the lines that db_bench prints each second into samples. Flags behind
`--` go to db_bench as they are.
"""

import argparse
import json
import re
import signal
import subprocess
import sys
from collections import deque

# Printed by each thread: operations, rates and seconds, of the interval and in all.
RATE = re.compile(
    r"\.\.\. thread (\d+): \(\d+,\d+\) ops and \(([\d.]+),[\d.]+\) ops/second"
    r" in \(([\d.]+),"
)
# An interval of more seconds than this may span a pause.
LONG = 2.0
# What db_bench says when it does not even begin.
REFUSED = re.compile(r"open error:|ERROR: |Invalid argument|command line flag")
# Longer than any search; whoever started the trial ends it. db_bench counts by the
# clock, so that a pause must not use up its time.
FOR_EVER = "--duration=1000000"
# Of the data. Operations drawn with the same would meet the keys in the order in which they
# were written, and no others. db_bench counts on from a seed for each thread.
FILL_SEED, SEEDS_APART = 1_000_000, 1_000


def arguments():
    parser = argparse.ArgumentParser(description="Runs db_bench as a trial.")
    parser.add_argument("--flags", required=True, help="file of --name=value lines")
    parser.add_argument("--directory", required=True, help="an empty directory")
    parser.add_argument("--entries", type=int, default=1_000_000)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--fill", default="fillrandom", help="benchmark of the set-up")
    parser.add_argument("--run", default="readrandomwriterandom", help="benchmark that is measured")
    parser.add_argument("--seed", type=int, default=1, help="of the operations; the data stay")
    parser.add_argument("--db-bench", default="db_bench", help="the program")
    parser.add_argument("more", nargs="*", help="flags of db_bench, behind --")
    return parser.parse_args()


def say(line):
    """A line of the protocol. Unflushed lines would come in bursts."""
    print(json.dumps(line), flush=True)


def fail(last):
    """Ends as a configuration that does not work."""
    refused = [line for line in last if REFUSED.search(line)]
    if refused:
        say({"error": f"cannot open: {refused[-1]}"})
    for line in last:
        print(line, file=sys.stderr)
    sys.exit(1)


def start(given, *flags):
    common = [
        given.db_bench,
        f"--flagfile={given.flags}",
        f"--db={given.directory}",
        f"--num={given.entries}",
    ]
    return subprocess.Popen(
        [*common, *flags, *given.more],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )


class Amplification:
    """Reads the write amplification from RocksDB's own table, which db_bench prints
    with each interval. Its sum is over all the time since the database was opened, so
    that the last value is that of the trial."""

    def __init__(self):
        self.column = None
        self.value = None

    def hear(self, line):
        words = line.split()
        if words[:1] == ["Level"]:
            self.column = words.index("W-Amp") if "W-Amp" in words else None
        elif words[:1] == ["Sum"] and self.column is not None:
            # A size is two words, where its title is one.
            if len(words) > self.column + 1:
                self.value = float(words[self.column + 1])
            self.column = None


class Rounds:
    """Puts the rates of all threads together, which report one after the other. Some
    benchmarks run a thread more than they are told to."""

    def __init__(self, threads):
        self.threads = threads
        self.rates = {}
        self.known = set()
        # Threads that have not reported since a pause: how many more of their lines may
        # be of it. One may have been on its way already.
        self.paused = {}

    def hear(self, thread, rate, seconds):
        """Takes a rate; gives the sum when this thread begins another round."""
        self.known.add(thread)
        if self.spans_a_pause(thread, seconds):
            return None
        whole = thread in self.rates and len(self.rates) >= self.threads
        total = sum(self.rates.values()) if whole else None
        if whole:
            self.rates = {}
        self.rates[thread] = rate
        return total

    def spans_a_pause(self, thread, seconds):
        left = self.paused.pop(thread, 0)
        if left > 1 and seconds <= LONG:
            self.paused[thread] = left - 1
        return left > 0 and seconds > LONG

    def resume(self, *_):
        """After a pause nothing from before it counts."""
        self.rates = {}
        self.paused = dict.fromkeys(self.known, 2)


def fill(given):
    process = start(given, f"--benchmarks={given.fill}", f"--seed={FILL_SEED}")
    last = deque((line.strip() for line in process.stdout), maxlen=15)
    if process.wait() != 0:
        fail(last)


def run(given):
    process = start(
        given,
        f"--benchmarks={given.run}",
        f"--threads={given.threads}",
        f"--seed={SEEDS_APART * given.seed}",
        "--use_existing_db=1",
        "--stats_interval_seconds=1",
        "--stats_per_interval=1",
        FOR_EVER,
    )
    rounds, amplification, last = Rounds(given.threads), Amplification(), deque(maxlen=15)
    signal.signal(signal.SIGCONT, rounds.resume)
    # Before the first rate the database is being opened; the first round is of that, too.
    ready, first = False, True
    for line in process.stdout:
        found = RATE.search(line)
        if not found:
            amplification.hear(line)
            last.append(line.strip())
            continue
        if not ready:
            say({"ready": True})
            ready = True
        total = rounds.hear(int(found[1]), float(found[2]), float(found[3]))
        if total is None:
            continue
        if first:
            first = False
            continue
        sample = {"throughput": total}
        if amplification.value is not None:
            sample["write_amplification"] = amplification.value
        say(sample)
    process.wait()
    fail(last)


if __name__ == "__main__":
    try:
        given = arguments()
        fill(given)
        run(given)
    except FileNotFoundError as error:
        say({"error": f"cannot start {error.filename}: install it, or give --db-bench"})
        sys.exit(1)
    except BrokenPipeError:
        # Whoever started the trial is gone.
        sys.exit(1)
