#!/usr/bin/env python3
"""Runs the trials of `lissom search --runner` on this machine (docs/search.md).

    lissom search ... --runner 'examples/runners/local_runner.py --workers 2'

Without --runner lissom does the same by itself; this is the smallest runner there is, to
begin another one with.
"""

import argparse
import platform
import signal
import sys
import tempfile
import time
import uuid

import runner
from host import Host


class LocalPool:
    """Workers that are hosts in this process."""

    def __init__(self, workers, directory, hello):
        search, place = uuid.uuid4().hex[:12], platform.node() or "this machine"
        self.hosts = {
            name: Host(directory, search, name, hello["memory_bytes"], hello["keep"], place)
            for name in (f"worker-{number}" for number in range(workers))
        }
        self.orders = {name: [] for name in self.hosts}
        self.joined = [(name, {"message": "joined"}) for name in self.hosts]

    def send(self, worker, order):
        self.orders[worker].append(order)

    def receive(self, wait):
        news, self.joined = self.joined, []
        for name, host in self.hosts.items():
            orders, self.orders[name] = self.orders[name], []
            news += [(name, message) for message in host.turn(orders, 0.0)]
        if not news:
            time.sleep(min(wait, 0.01))
        return news

    def close(self):
        for host in self.hosts.values():
            host.close()


def arguments():
    parser = argparse.ArgumentParser(description="Runs trials on this machine.")
    parser.add_argument("--workers", type=int, default=1, help="trials that run at once")
    parser.add_argument("--directory", default=tempfile.gettempdir(), help="for their data")
    return parser.parse_args()


def main():
    given, wire = arguments(), runner.Wire()
    # An exit in order.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    hello = wire.hello()
    if hello is None:
        return 1
    pool, desk = LocalPool(given.workers, given.directory, hello), runner.Desk()
    try:
        if runner.greet(wire, desk, pool, 10.0, "this machine", given.workers):
            runner.serve(wire, pool, desk)
    except BrokenPipeError:
        # Lissom is gone.
        return 1
    finally:
        pool.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
