"""The machine, as Linux tells it."""

import os
from pathlib import Path


def machine():
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {"processor": names[0] if names else "", "cores": os.cpu_count(),
            "memory": f"{memory / 2**30:.0f} GiB", "system": f"Linux {os.uname().release}"}
