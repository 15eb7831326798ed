"""What a search of Lissom's settings found, under real sessions.

`lissom bench` gives all arms of one call the same resources. So there are two comparisons, of
the settings as they are given and as they were found, whose rounds take turns."""

import json
import shutil
import subprocess
from pathlib import Path

import searching
import trial
from failure import Failure

WORKLOAD, SCALE = "five-sessions", 0.2
FIXED, LEARNED, FOUND, BOTH = "fixed-1", "learned", "found", "found and learned"
# Contenders in the order of the table.
CONTENDERS = (FIXED, LEARNED, FOUND, BOTH)
# Settings that `lissom bench` calls otherwise.
NAMES = {"bloom_bits_per_key": "filter_bits_per_key", "workers": "background_compactions"}
# Those that are no resource: the arm, and what is the same for all.
APART = ("policy", "compression")
# Seconds after which a round is not believed to end.
PATIENCE = 900


def arms(configuration):
    """The arms that are compared, by contender: of the settings as given, or of these."""
    if configuration is None:
        return {FIXED: "fixed-1", LEARNED: "learned"}
    own = configuration["policy"]
    return {FOUND: own} if own == "learned" else {FOUND: own, BOTH: "learned"}


def resources(configuration, memory):
    """A configuration as arguments of `lissom bench`."""
    if configuration is None:
        return []
    found = {NAMES.get(name, name): value for name, value in configuration.items()
             if name not in APART}
    buffers = configuration["write_buffer_size"] * configuration["max_write_buffer_number"]
    found["block_cache_size"] = memory - buffers
    return [word for name, value in found.items() for word in ("--set", f"{name}={plain(value)}")]


def plain(value):
    return int(value) if value == int(value) else value


def words(program, configuration, subject, out, rounds):
    """The command line. Rounds that are there already are not run again."""
    own = [word for arm in arms(configuration).values() for word in ("--arm", arm)]
    return [str(program), "bench", WORKLOAD, "--scale", f"{SCALE:g}", *own,
            *resources(configuration, subject.constants["memory"]),
            "--rounds", str(rounds), "--keep-load", "--out", str(out)]


def run(program, configuration, subject, out, rounds):
    """Runs what so many rounds lack, and gives the seconds of each contender in each round."""
    if rounds == 1:
        # Of another campaign, or cut short.
        shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True, exist_ok=True)
    failure = carry_out(words(program, configuration, subject, out, rounds), out)
    try:
        found = json.loads((out / "results.json").read_text())
    except (OSError, ValueError):
        return {"failure": failure or f"it left no results in {out}"}
    told = {"seconds": seconds(found, arms(configuration))}
    return {**told, "failure": failure} if failure else told


def seconds(results, contenders):
    """The total of each contender in each round that all arms ran in: its sessions, and what it
    left to be merged."""
    verdict = results.get("verdict") or {}
    totals = {it["arm"]: it["total_seconds"]["values"] for it in verdict.get("arms", [])}
    return {contender: totals.get(arm, []) for contender, arm in contenders.items()}


def carry_out(command, out):
    """Runs it to its end, and says why it failed; None if it did not."""
    with open(Path(out) / "errors", "w+") as errors:
        try:
            child = subprocess.Popen([*searching.with_this_program(), *command],
                                     stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                     stderr=errors, start_new_session=True)
        except OSError as error:
            raise Failure(f"cannot start {command[0]}: {error.strerror}") from None
        try:
            child.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            return f"it did not end within {PATIENCE / 60:.0f} minutes"
        finally:
            trial.end(child)
        if child.returncode == 0:
            return None
        errors.seek(0)
        return (errors.read().strip().splitlines() or ["it said nothing"])[-1]
