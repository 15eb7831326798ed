"""One comparison: the maximum, the runs with the agent off and on by turns, the kills."""

import time

import judge
from agent import Agent
from failure import Failure
from load import Load, prepare
from machine import boot, machine
from program import fingerprint

# Threads of closed loops; the largest number paces the runs.
LADDER = (4, 8, 16)
# Shares of the maximum in high and in low phases.
HIGH, LOW = 0.9, 0.225
# The best closed loop is tried as the maximum; by this share a maximum is lowered that the
# server does not carry, so many times at most.
STEP, MOST_LOWERED = 0.1, 6
# Kills, and who must restore after each.
BY_HAND = "attach --restore"
KILLS = {"agent": "the watchdog", "agent and watchdog": BY_HAND,
         "agent and watchdog, with --server-lease": "the server's event"}
# Seconds until a kill must be made good, and for which nobody may be there to do it.
PATIENCE, NOBODY = 60, 15


class Campaign:
    """Does what `results` still lacks."""

    def __init__(self, server, results, plan, program, say, elsewhere=False):
        self.server, self.results, self.plan = server, results, plan
        self.program, self.say, self.elsewhere = program, say, elsewhere

    def run(self):
        self.note_origin()
        self.say(f"loading {self.plan['tables']} tables of {self.plan['table_size']:,} rows")
        prepare(self.server, self.plan)
        self.server.settle()
        self.original = self.server.options()
        maximum = self.results.find(type="maximum") or self.find_maximum()
        self.limits = judge.limits(maximum)
        self.high, self.low = HIGH * maximum["tps"], LOW * maximum["tps"]
        for repeat in range(self.plan["repeats"]):
            arms = ("off", "on") if repeat % 2 == 0 else ("on", "off")
            for arm in arms:
                if not self.results.find(type="run", arm=arm, repeat=repeat):
                    self.measure(arm, repeat)
        for case in KILLS:
            if not self.results.find(type="kill", case=case):
                self.kill(case)

    def note_origin(self):
        """Where figures come from. Those of two machines, or programs, are no comparison."""
        here = {"type": "machine", **machine(), **self.server.version(), "boot": boot(),
                "program": fingerprint(self.program)}
        if self.results.find(**here):
            return
        if self.results.find(type="machine") and not self.elsewhere:
            raise Failure(f"{self.results.path} was begun on another machine, before this one was "
                          "booted, or with another program: give another --out, or go on with "
                          "--other-machine")
        self.results.add(here)

    def find_maximum(self):
        """The highest of a few loads that the server carries without an agent.

        What closed loops do in some minutes is more than it carries for long, since what
        they leave to be merged costs them nothing. So it is only where the search begins.
        """
        best = self.best_closed_loop()
        for lowered in range(MOST_LOWERED + 1):
            trial = (self.results.find(type="trial", lowered=lowered)
                     or self.try_maximum(best["tps"] * (1 - STEP) ** lowered, lowered))
            if judge.is_carried(trial["behind"]):
                maximum = {"type": "maximum", "tps": trial["tps"],
                           "client_bytes": trial["client_bytes"] / HIGH}
                self.results.add(maximum)
                return maximum
        raise Failure(f"of all maxima that were tried, down to {trial['tps']:.0f} transactions a "
                      "second, this server carries nine tenths of none: free the machine, move "
                      f"{self.results.path} away, and begin again")

    def best_closed_loop(self):
        for threads in LADDER:
            if not self.results.find(type="closed loop", threads=threads):
                self.closed_loop(threads)
        best = max(self.results.all(type="closed loop"), key=lambda it: it["tps"])
        if best["tps"] < 20:
            raise Failure(f"the server does {best['tps']:.0f} transactions a second: too few to "
                          "see anything by second")
        return best

    def closed_loop(self, threads):
        """As many transactions as there can be; the first third is left out."""
        seconds = self.plan["ramp_seconds"]
        self.say(f"closed loop with {threads} threads")
        self.server.settle()
        load = Load(self.server, self.plan, seconds, threads)
        try:
            ended = [at for at, _ in load.wait() if seconds / 3 <= at < seconds]
        finally:
            load.stop()
        self.results.add({"type": "closed loop", "threads": threads,
                          "tps": len(ended) / (seconds * 2 / 3)})

    def try_maximum(self, tps, lowered):
        """Offers the shares of a maximum of `tps` that the runs would be offered, for as long."""
        self.say(f"trial of {tps:.0f} transactions a second as the maximum")
        seconds = self.plan["seconds"]
        self.server.settle()
        samples, ended = self.offer(seconds, HIGH * tps, LOW * tps)
        by_second = judge.by_second(ended, seconds)
        for second in by_second:
            second["offered"] = judge.offered(self.plan, HIGH * tps, LOW * tps, second["at"])
        trial = {"type": "trial", "lowered": lowered, "tps": tps, "dips": judge.dips(by_second),
                 "behind": judge.behind(by_second),
                 "client_bytes": judge.client_bytes_at_high(self.plan, samples)}
        self.results.add(trial)
        return trial

    def offer(self, seconds, high, low):
        """High and low by turns: what the server told at the origin and at the end of each
        second, and what came of each transaction."""
        load = Load(self.server, self.plan, seconds, max(LADDER), high, low)
        try:
            samples = self.sample(load.origin, seconds)
            return samples, load.wait()
        finally:
            load.stop()

    def measure(self, arm, repeat):
        seconds = self.plan["seconds"]
        self.say(f"repeat {repeat + 1} of {self.plan['repeats']}, agent {arm}")
        self.server.settle()
        agent = self.attach(f"on-{repeat}") if arm == "on" else None
        try:
            samples, ended = self.offer(seconds, self.high, self.low)
            if agent:
                agent.terminate()
        finally:
            if agent:
                agent.end()
        self.require_original("the agent's end")
        self.server.settle()
        self.record(arm, repeat, samples, self.server.counters(), ended)

    def sample(self, origin, seconds):
        """What the server tells at the origin and at the end of each second."""
        samples = []
        for second in range(seconds + 1):
            sleep_until(origin + second)
            options = self.server.options()
            samples.append({**self.server.counters(), "options": options})
        return samples

    def record(self, arm, repeat, samples, settled, ended):
        seconds = judge.by_second(ended, self.plan["seconds"])
        for second, sample in zip(seconds, samples[1:]):
            due = judge.offered(self.plan, self.high, self.low, second["at"])
            second.update(type="second", arm=arm, repeat=repeat, offered=due, server=sample)
        figures = judge.totals(seconds, samples, settled, ended, self.original)
        run = {"type": "run", "arm": arm, "repeat": repeat, "high": self.high, "low": self.low,
               "limits": self.limits, **figures}
        self.results.add(*seconds, run)

    def attach(self, name, server_lease=False):
        log = self.results.path.with_name(f"agent-{name}.jsonl")
        return Agent(self.program, self.server, self.limits, self.plan, log, server_lease)

    def require_original(self, when):
        now = self.server.options()
        if now != self.original:
            raise Failure(f"after {when} the server has {now} and not {self.original}")

    def kill(self, case):
        """Kills at high load, while level 0 waits, and sees what becomes of it."""
        self.say(f"kill test: {case}")
        self.server.settle()
        self.require_original("the last run")
        agent = self.attach(case.replace(" ", "-").replace(",", ""), "server-lease" in case)
        try:
            load = Load(self.server, self.plan, 10 * PATIENCE, max(LADDER), self.high)
            try:
                seen = self.kill_delayed(case, agent)
            finally:
                load.stop()
        finally:
            agent.end()
        self.results.add({"type": "kill", "case": case, "by": KILLS[case],
                          "before": self.original, **seen})

    def kill_delayed(self, case, agent):
        if self.await_options(lambda now: now != self.original, PATIENCE) is None:
            raise Failure("the agent did not delay at high load: nothing can be seen by a kill; "
                          "its log is beside the results")
        # The first of several changes may have been seen.
        time.sleep(1)
        delayed, killed = self.server.options(), time.monotonic()
        agent.kill(with_watchdog=case != "agent")
        after = self.after(case, agent)
        took = time.monotonic() - killed
        if after != self.original:
            agent.restore()
        return {"delayed": delayed, "after": after, "seconds": took}

    def after(self, case, agent):
        """The settings once whoever has to restore has done so, or has had the time."""
        if KILLS[case] == BY_HAND:
            alone = self.await_options(lambda now: now == self.original, NOBODY)
            if alone is not None:
                raise Failure(f"{case}: somebody restored, and nobody was left to")
            # By the state file, as the next agent would before anything else.
            agent.restore()
        self.await_options(lambda now: now == self.original, PATIENCE)
        return self.server.options()

    def await_options(self, wanted, patience):
        """The options as soon as they are as wanted; None if they are not in time."""
        deadline = time.monotonic() + patience
        while time.monotonic() < deadline:
            now = self.server.options()
            if wanted(now):
                return now
            time.sleep(0.1)
        return None


def is_complete(results, plan):
    """Whether a comparison lacks nothing."""
    runs = [(arm, repeat) for arm in ("off", "on") for repeat in range(plan["repeats"])]
    return (all(results.find(type="run", arm=arm, repeat=repeat) for arm, repeat in runs)
            and all(results.find(type="kill", case=case) for case in KILLS))


def sleep_until(moment):
    time.sleep(max(0.0, moment - time.monotonic()))
