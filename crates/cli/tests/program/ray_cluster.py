"""A Ray cluster on this machine: a head without processors, and, as soon as somebody has
connected, two machines with one each.

Prints its address. A line on its input kills a machine; the end of it ends the cluster.
Whoever connects first finds only the head there, and so does not go with a machine.
"""

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


def main():
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "_system_config": QUICK})
    machines, ready = [], threading.Event()

    def grow():
        while not cluster.global_state.job_table():
            time.sleep(0.2)
        machines.extend(cluster.add_node(num_cpus=1) for _ in range(2))
        ready.set()

    threading.Thread(target=grow, daemon=True).start()
    print(f"address {cluster.address}", flush=True)
    for _ in sys.stdin:
        ready.wait()
        cluster.remove_node(machines.pop(), allow_graceful=False)
        print("killed", flush=True)
    cluster.shutdown()


if __name__ == "__main__":
    main()
