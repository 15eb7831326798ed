"""Debian's packages."""

import os
import subprocess

from failure import Failure


def install(packages):
    """Installs packages, as root on Debian."""
    environment = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
    for arguments in (["update"], ["install", "-y", "--no-install-recommends", *packages]):
        done = subprocess.run(["apt-get", *arguments], env=environment, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True)
        if done.returncode != 0:
            last = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
            raise Failure(f"apt-get {arguments[0]} failed: {last}")
