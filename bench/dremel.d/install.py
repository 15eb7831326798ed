"""The libraries of the rivals, in an environment outside of the checkout."""

import importlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import debian
from failure import Failure

LIBRARIES = {"single-task": ["botorch"], "multi-task": ["botorch"], "tpe": ["optuna"]}


def place():
    """Where the environment lies."""
    root = os.environ.get("LISSOM_DREMEL_PYTHON")
    return Path(root) if root else Path.home() / ".cache/lissom/dremel-python"


def python():
    return place() / "bin/python"


def missing(methods):
    """Libraries that these methods need and that cannot be imported here."""
    wanted = [name for method in methods for name in LIBRARIES.get(method, [])]
    return sorted({name for name in wanted if not importable(name)})


def importable(name):
    try:
        importlib.import_module(name)
    except ImportError:
        return False
    return True


def install(methods, say):
    """Makes the environment and installs what is missing in it. pip's own settings say
    where packages come from; a PyTorch without CUDA, where one is offered, suffices."""
    wanted = sorted({name for method in methods for name in LIBRARIES.get(method, [])})
    if not wanted:
        raise Failure("none of these methods needs a library")
    if not python().exists():
        say(f"making {place()}")
        run([sys.executable, "-m", "venv", str(place())])
    say(f"pip install {' '.join(wanted)}; PyTorch takes some gigabytes")
    run([str(python()), "-m", "pip", "install", "--quiet", *wanted])
    run([str(python()), "-c", "; ".join(f"import {name}" for name in wanted)])
    say(f"installed into {place()}")


def run(words):
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        last = (done.stderr.strip() or done.stdout.strip() or "no reason given").splitlines()[-1]
        raise Failure(f"{Path(words[0]).name} failed: {last}")


def begin_anew_in_it(script):
    """Goes on as the environment's Python, if there is one and this is another."""
    if python().exists() and Path(sys.prefix).resolve() != place().resolve():
        os.execv(python(), [str(python()), str(script), *sys.argv[1:]])


def db_bench():
    """Installs Debian's db_bench where it is missing, as root on Debian."""
    if shutil.which("db_bench"):
        return
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        raise Failure("db_bench is needed; as root on Debian: apt-get install rocksdb-tools")
    debian.install(["rocksdb-tools"])
