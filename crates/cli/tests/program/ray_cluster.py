"""A Ray cluster on this machine: a head without processors, and, as soon as somebody has
connected, two machines with one each.

Prints its address. A line on its input kills a machine; the end of it ends the cluster.
Whoever connects first finds only the head there, and so does not go with a machine.
"""

import queue
import sys
import threading
import time

from ray.cluster_utils import Cluster

# A machine that is gone is noticed within a few seconds.
QUICK = {
    "health_check_initial_delay_ms": 1000,
    "health_check_period_ms": 1000,
    "health_check_failure_threshold": 3,
}

END = ""


def read(lines):
    for line in sys.stdin:
        lines.put(line)
    lines.put(END)


def connected(cluster, lines):
    """Whether somebody has connected before the input ended."""
    while not cluster.global_state.job_table():
        if END in lines.queue:
            return False
        time.sleep(0.2)
    return True


def main():
    lines = queue.Queue()
    threading.Thread(target=read, args=(lines,), daemon=True).start()
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "_system_config": QUICK})
    print(f"address {cluster.address}", flush=True)
    if connected(cluster, lines):
        # Ray makes machines in the main thread only.
        machines = [cluster.add_node(num_cpus=1) for _ in range(2)]
        for _ in iter(lines.get, END):
            cluster.remove_node(machines.pop(), allow_graceful=False)
            print("killed", flush=True)
    cluster.shutdown()


if __name__ == "__main__":
    main()
