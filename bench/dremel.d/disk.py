"""Room on the disk that trials have their data on."""

import shutil

from failure import Failure

# Bytes that must be free, or what fails is no configuration's fault, and no method's.
LEAST_FREE = 2 << 30


def free(directory):
    """Bytes that are free on the disk of a directory."""
    return shutil.disk_usage(directory).free


def check(directory, least=None):
    """A full disk ends everything. `least` is what was free at some time, if not now."""
    room = free(directory) if least is None else least
    if room < LEAST_FREE:
        raise Failure(f"only {room / 2**30:.1f} GiB {'are' if least is None else 'were'} free on "
                      f"the disk of {directory}, where {LEAST_FREE / 2**30:.0f} GiB are needed: "
                      "make room, or give another --directory")
