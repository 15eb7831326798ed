"""The packages that a run needs: MariaDB with MyRocks, and sysbench."""

import os
import shutil
from pathlib import Path

import debian
from failure import Failure

PACKAGES = ["mariadb-server", "mariadb-plugin-rocksdb", "sysbench"]
PROGRAMS = ["mariadbd", "mariadb-install-db", "mariadb", "sysbench"]
PLUGIN = Path("/usr/lib/mysql/plugin/ha_rocksdb.so")


def is_there():
    return all(shutil.which(name) for name in PROGRAMS) and PLUGIN.exists()


def install(say):
    """Installs what is missing as root on Debian; elsewhere says how."""
    if is_there():
        return
    command = "apt-get install " + " ".join(PACKAGES)
    release = Path("/etc/os-release")
    is_debian = release.exists() and "debian" in release.read_text()
    if os.geteuid() != 0 or not is_debian:
        raise Failure(f"MariaDB with MyRocks and sysbench are needed; as root on Debian: {command}")
    say(command)
    debian.install(PACKAGES)
    if not is_there():
        raise Failure(f"the packages are installed and {PLUGIN} or a program of "
                      f"{', '.join(PROGRAMS)} is missing")
