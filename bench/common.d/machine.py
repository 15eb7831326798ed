"""The machine, as Linux tells it."""

import hashlib
import json
import os
from pathlib import Path

BOOT = Path("/proc/sys/kernel/random/boot_id")


def machine():
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {"processor": names[0] if names else "", "cores": os.cpu_count(),
            "memory": f"{memory / 2**30:.0f} GiB", "system": f"Linux {os.uname().release}"}


def boot():
    """Equal for what runs on one machine between two starts of it."""
    told = [BOOT.read_text().strip(), machine()]
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:12]
