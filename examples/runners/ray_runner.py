#!/usr/bin/env python3
"""Runs the trials of `lissom search --runner` on a Ray cluster (docs/search.md).

    pip install ray
    lissom search ... --runner 'examples/runners/ray_runner.py --address auto'

Each worker is a Ray actor that holds --cpus-per-trial processors for the whole search, so
that nothing else disturbs its trials. It runs one of them at a time; those that wait for
others stay with it, stopped. The machines need Ray, and what the trials run, and nothing
of this folder.
"""

import argparse
import os
import signal
import sys
import tempfile
import time
import types
import uuid
from pathlib import Path

import runner

# Seconds that an actor waits for news before it answers: less is said at once.
TURN = 0.1
# What a host is made of; each part imports only those before it.
PARTS = ("processes", "root", "trial", "host")
# Seconds in which a machine must have room for a worker, and for the end of everything.
ROOM, END = 60.0, 12.0


def arguments():
    parser = argparse.ArgumentParser(description="Runs trials on a Ray cluster.")
    parser.add_argument(
        "--address",
        default="local",
        help="auto or HOST:PORT; by default a cluster on this machine is started",
    )
    parser.add_argument(
        "--cpus-per-trial", type=float, default=1.0, help="processors that a trial has"
    )
    parser.add_argument(
        "--workers",
        type=int,
        help="trials that run at once; machines for them may still join [default: all that fit]",
    )
    parser.add_argument(
        "--directory",
        default=tempfile.gettempdir(),
        help="for the trials' data, on every machine; best on the disk that is to be tuned for",
    )
    given = parser.parse_args()
    if given.cpus_per_trial <= 0 or (given.workers is not None and given.workers < 1):
        parser.error("--cpus-per-trial and --workers must be more than 0")
    if given.cpus_per_trial > 1 and given.cpus_per_trial % 1:
        parser.error("--cpus-per-trial must be a whole number, or less than 1")
    return given


def room(nodes, cpus, memory_bytes):
    """How many workers fit on the machines that Ray knows, and how many trials may be
    alive there at once; None where Ray does not tell of memory."""
    resources = [node["Resources"] for node in nodes if node["Alive"]]
    workers = sum(int(it.get("CPU", 0) // cpus) for it in resources)
    able = [it for it in resources if it.get("CPU", 0) >= cpus]
    if not all("memory" in it for it in able):
        return workers, None
    return workers, sum(int(it["memory"] // memory_bytes) for it in able)


def wanted(fitting, *most):
    """As many workers as fit and are not too many."""
    return min([fitting, *(it for it in most if it is not None)])


def parts_as_text():
    """By part, what stands in its file."""
    here = Path(__file__).parent
    return {name: (here / f"{name}.py").read_text(encoding="utf-8") for name in PARTS}


def last_of(parts):
    """The last part as a module; those before it are there for it to import."""
    for name, text in parts.items():
        module = sys.modules[name] = types.ModuleType(name)
        exec(compile(text, f"{name}.py", "exec"), module.__dict__)
    return module


class Worker:
    """What an actor is. The host comes as text, since no machine but that of the runner
    has its files."""

    def __init__(self, parts, settings, place):
        self.host = last_of(parts).Host(place=place, **settings)

    def turn(self, orders, wait):
        return self.host.turn(orders, wait)

    def close(self):
        self.host.close()


def actor_class(ray):
    """The same with the address of its machine."""

    class RayWorker(Worker):
        def __init__(self, parts, settings):
            address = ray.util.get_node_ip_address()
            super().__init__(parts, settings, f"{address} ({settings['worker']})")

    return ray.remote(RayWorker)


class RayPool:
    """Workers that are actors. Each has one question on its way at any time: what has
    happened? Orders go with the next one."""

    def __init__(self, ray, given, hello):
        self.ray, self.cpus = ray, given.cpus_per_trial
        self.actor_class = actor_class(ray)
        self.parts = parts_as_text()
        self.settings = {
            "directory": given.directory,
            "search": uuid.uuid4().hex[:12],
            "memory_bytes": hello["memory_bytes"],
            "keep": hello["keep"],
        }
        self.started = 0
        # By worker: the actor, and orders that it has not been told.
        self.actors, self.orders = {}, {}
        # Those that have answered once; the others wait for a machine.
        self.joined = set()
        # By question: the worker.
        self.asked = {}

    def add(self):
        """Starts a worker as soon as a machine has room for it."""
        name = f"worker-{self.started}"
        self.started += 1
        options = {"num_cpus": self.cpus, "max_restarts": 0, "scheduling_strategy": "SPREAD"}
        actor = self.actor_class.options(**options).remote(
            self.parts, {**self.settings, "worker": name}
        )
        self.actors[name], self.orders[name] = actor, []
        self.ask(name)

    def ask(self, worker):
        orders, self.orders[worker] = self.orders[worker], []
        wait = TURN if worker in self.joined else 0.0
        self.asked[self.actors[worker].turn.remote(orders, wait)] = worker

    def send(self, worker, order):
        if worker in self.orders:
            self.orders[worker].append(order)

    def receive(self, wait):
        if not self.asked:
            time.sleep(wait)
            return []
        ready, _ = self.ray.wait(list(self.asked), num_returns=1, timeout=wait)
        news = []
        for question in ready:
            worker = self.asked.pop(question)
            news += [(worker, message) for message in self.answer(worker, question)]
        return news

    def answer(self, worker, question):
        try:
            news = self.ray.get(question)
        except self.ray.exceptions.RayTaskError as error:
            # The worker lives, and what it does fails.
            return [{"message": "failed", "why": f"{worker}: {last_line(error)}"}]
        except self.ray.exceptions.RayError as error:
            return self.lose(worker, error)
        joins = [] if worker in self.joined else [{"message": "joined"}]
        self.joined.add(worker)
        self.ask(worker)
        return joins + news

    def lose(self, worker, error):
        """Another one takes its place as soon as a machine has room."""
        actor = self.actors.pop(worker)
        del self.orders[worker]
        if worker not in self.joined:
            why = f"{worker} cannot be started: {last_line(error)}"
            return [{"message": "failed", "why": why}]
        self.joined.discard(worker)
        self.ray.kill(actor)
        self.add()
        return [{"message": "gone", "why": f"{worker} is gone ({last_line(error)})"}]

    def close(self):
        alive = [self.actors[worker] for worker in self.joined if worker in self.actors]
        ends = [actor.close.remote() for actor in alive]
        if ends:
            self.ray.wait(ends, num_returns=len(ends), timeout=END)
        for actor in self.actors.values():
            self.ray.kill(actor)


def last_line(error):
    """What happened, of Ray's many lines."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[-1]}" if lines else type(error).__name__


def run(ray, given, wire, hello):
    def alive():
        return room(ray.nodes(), given.cpus_per_trial, hello["memory_bytes"])[1]

    # Those that are asked for may still be on their way.
    fitting = given.workers or room(ray.nodes(), given.cpus_per_trial, hello["memory_bytes"])[0]
    workers = wanted(fitting, hello["workers"])
    if workers < 1:
        wire.fail(f"no machine of the cluster has {given.cpus_per_trial:g} processors for a trial")
        return 1
    pool, desk = RayPool(ray, given, hello), runner.Desk()
    try:
        for _ in range(workers):
            pool.add()
        greeted = runner.greet(wire, desk, pool, ROOM, f"Ray {ray.__version__}", workers, alive)
        if greeted:
            runner.serve(wire, pool, desk)
            return 0
        if greeted is False:
            wire.fail(f"no machine of the cluster had room for a trial within {ROOM:g} s")
        return 1
    finally:
        pool.close()


def connect(ray, address):
    """A sentence where that is not possible."""
    options = {"address": address, "log_to_driver": False, "logging_level": "ERROR"}
    if address == "local":
        options["include_dashboard"] = False
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        ray.init(**options)
    except (ConnectionError, RuntimeError, ValueError) as error:
        return f"cannot reach the Ray cluster {address}: {last_line(error)}; start it, or give " \
               "another --address"
    return None


def main():
    given, wire = arguments(), runner.Wire()
    hello = wire.hello()
    if hello is None:
        return 1
    try:
        import ray
        import ray.exceptions
        import ray.util
    except ImportError as error:
        wire.fail(f"{sys.executable} has no Ray ({error}): pip install ray, or start the runner "
                  "with another Python")
        return 1
    why = connect(ray, given.address)
    # Behind Ray's own handler: an exit in order.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    try:
        if why:
            wire.fail(why)
            return 1
        return run(ray, given, wire, hello)
    except BrokenPipeError:
        # Lissom is gone.
        return 1
    finally:
        ray.shutdown()


if __name__ == "__main__":
    sys.exit(main())
