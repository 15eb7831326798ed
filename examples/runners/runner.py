"""What runners have in common: the wire to lissom, and who runs what.

A runner brings a pool of workers. A pool has

    send(worker, order)    passes an order on
    receive(wait)          what workers said, as pairs of a worker and a message, after
                           at most so many seconds
    close()                ends everything that the workers run

and says of a worker itself {"message": "joined"} when it can be given trials,
{"message": "gone", "why": WORDS} when it cannot any more, with all its trials, and
{"message": "failed", "why": WORDS} when it never will.
"""

import json
import os
import queue
import sys
import threading
import time

# Of the protocol; lissom refuses another.
VERSION = 1
# Seconds between two signs of life, and for which workers are waited at once.
BEAT_EACH, WAIT = 5.0, 0.05


class Wire:
    """Lines to and from lissom. What anything else prints goes to the standard error."""

    def __init__(self):
        self.output = os.fdopen(os.dup(1), "w", encoding="utf-8", errors="replace")
        os.dup2(2, 1)
        self.orders = queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        rest = b""
        try:
            # Not by sys.stdin, whose lock would be held when Python ends.
            while piece := os.read(0, 1 << 16):
                *lines, rest = (rest + piece).split(b"\n")
                for line in lines:
                    self.orders.put(json.loads(line))
        finally:
            # Lissom has ended, or wants the runner to.
            self.orders.put(None)

    def say(self, message):
        self.output.write(json.dumps(message, ensure_ascii=False) + "\n")
        self.output.flush()

    def fail(self, why):
        self.say({"message": "failed", "why": why})

    def hello(self):
        """What lissom says first; None if it is gone or of another version."""
        hello = self.orders.get()
        if hello is None:
            return None
        if hello.get("message") != "hello" or hello.get("version") != VERSION:
            version = hello.get("version")
            self.fail(f"this runner speaks version {VERSION} of the protocol, lissom {version}")
            return None
        return hello


class Desk:
    """Who runs what. A trial stays with the worker that began it, for there are its
    processes and its data; of a worker's trials one runs at a time, and the others wait
    for their turn, also until one that was stopped has ended, which takes a while.
    Every step gives orders for workers and messages for lissom."""

    def __init__(self):
        # The run that has a worker's turn, or None.
        self.workers = {}
        # The worker of each run.
        self.homes = {}
        # Runs that were told to stop and have not ended.
        self.stopping = set()
        # Orders that wait for a turn, the oldest first.
        self.waiting = []

    def take(self, order):
        """An order of lissom's."""
        kind, run = order["message"], order["run"]
        if kind in ("start", "go_on"):
            self.waiting.append(order)
            return self.turns(), []
        if kind == "stop":
            self.waiting = [it for it in self.waiting if it["run"] != run]
            if run in self.homes:
                self.stopping.add(run)
        if run in self.homes:
            return [(self.homes[run], order)], []
        return [], [{"message": "stopped", "run": run}] if kind == "stop" else []

    def hear(self, worker, message):
        """A message of a worker's, or of the pool about it."""
        kind, run = message["message"], message.get("run")
        if kind == "joined":
            self.workers[worker] = None
            return self.turns(), []
        if kind == "gone":
            return self.turns(), self.lose(worker, message["why"])
        if worker not in self.workers:
            # One that cannot even join is missed only where there is no other.
            return [], [message] if kind == "failed" and not self.workers else []
        if kind in ("paused", "ended", "stopped") and self.workers[worker] == run:
            self.workers[worker] = None
        if kind in ("ended", "stopped"):
            self.homes.pop(run, None)
            self.stopping.discard(run)
        return self.turns(), [message]

    def lose(self, worker, why):
        self.workers.pop(worker, None)
        lost = sorted(run for run, home in self.homes.items() if home == worker)
        for run in lost:
            del self.homes[run]
            self.stopping.discard(run)
        self.waiting = [it for it in self.waiting if it["run"] not in lost]
        return [{"message": "lost", "run": run, "why": why} for run in lost]

    def turns(self):
        """Gives free workers to who waits for them."""
        orders, left = [], []
        for order in self.waiting:
            worker = self.worker_for(order)
            if worker is None:
                left.append(order)
                continue
            self.workers[worker] = order["run"]
            self.homes[order["run"]] = worker
            orders.append((worker, order))
        self.waiting = left
        return orders

    def worker_for(self, order):
        """Its own worker if that is free; of one that starts the free one that has the
        fewest trials."""
        ending = {self.homes[run] for run in self.stopping}
        free = [it for it, run in self.workers.items() if run is None and it not in ending]
        if order["message"] == "go_on":
            home = self.homes.get(order["run"])
            return home if home in free else None
        homes = list(self.homes.values())
        return min(free, key=homes.count, default=None)


def serve(wire, pool, desk):
    """Passes on orders and messages until lissom's end of the wire is closed."""
    told = time.monotonic()
    while True:
        steps = []
        while not wire.orders.empty():
            order = wire.orders.get()
            if order is None:
                return
            steps.append(desk.take(order))
        steps += [desk.hear(worker, message) for worker, message in pool.receive(WAIT)]
        for orders, messages in steps:
            for worker, order in orders:
                pool.send(worker, order)
            for message in messages:
                wire.say(message)
        if time.monotonic() - told > BEAT_EACH:
            told = time.monotonic()
            wire.say({"message": "beat"})


def greet(wire, desk, pool, seconds, name, wanted, alive=lambda: None):
    """Waits for workers, all that are wanted or those that came in time, and says how
    many there are, and how many trials may be `alive` on their machines. None if lissom is
    gone or was told why there are none; False if nobody knows why there are none."""
    until, failures = time.monotonic() + seconds, []
    while len(desk.workers) + len(failures) < wanted and time.monotonic() < until:
        if not wire.orders.empty() and wire.orders.queue[0] is None:
            return None
        for worker, message in pool.receive(WAIT):
            if message["message"] == "failed":
                failures.append(message)
                # For people, if others can work.
                print(message["why"], file=sys.stderr, flush=True)
            desk.hear(worker, message)
    if not desk.workers and failures:
        wire.say(failures[0])
        return None
    if not desk.workers:
        return False
    hello = {"message": "hello", "version": VERSION, "name": name,
             "workers": len(desk.workers), "pauses": True}
    most = alive()
    wire.say(hello if most is None else {**hello, "alive": max(most, len(desk.workers))})
    return True
