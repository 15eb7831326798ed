"""The libraries of the rivals, in an environment outside of the checkout."""

import importlib
import importlib.metadata
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import debian
from failure import Failure

# BoTorch 0.13.0 asks for just these of the two behind it; the others are of the same time.
NUMPY, TORCH = "numpy==2.2.2", "torch==2.6.0"
# PyTorch's build for processors, some gigabytes smaller than that of PyPI, and where it is.
FOR_PROCESSORS, INDEX = f"{TORCH}+cpu", "https://download.pytorch.org/whl/cpu"
GAUSSIAN = (TORCH, NUMPY, "scipy==1.15.1", "linear_operator==0.6", "gpytorch==1.14",
            "botorch==0.13.0")
LIBRARIES = {"single-task": GAUSSIAN, "multi-task": GAUSSIAN, "tpe": (NUMPY, "optuna==4.2.1")}


def place():
    """Where the environment lies."""
    root = os.environ.get("LISSOM_DREMEL_PYTHON")
    return Path(root) if root else Path.home() / ".cache/lissom/dremel-python"


def python():
    return place() / "bin/python"


def is_here():
    """Whether this is the environment's Python."""
    return Path(sys.prefix).resolve() == place().resolve()


def missing(methods):
    """Libraries that these methods need and that cannot be imported here."""
    return sorted(name for name in map(named, wanted(methods)) if not importable(name))


def versions(methods):
    """The versions of the libraries that these methods use here, by name."""
    return {name: importlib.metadata.version(name) for name in map(named, wanted(methods))}


def environment():
    """What is installed here, as `pip freeze` tells it."""
    return {"python": platform.python_version(),
            "packages": sorted({f"{it.name}=={it.version}"
                                for it in importlib.metadata.distributions()})}


def library(method):
    """What a method fails with together with others: its libraries, or itself."""
    return LIBRARIES.get(method, method)


def wanted(methods):
    """What these methods need, as pip is told, each once."""
    return list(dict.fromkeys(it for method in methods for it in LIBRARIES.get(method, ())))


def named(requirement):
    """The name under which a library is imported, too."""
    return requirement.partition("==")[0]


def importable(name):
    try:
        importlib.import_module(name)
    except ImportError:
        return False
    return True


def install(methods, say):
    """Makes the environment, or what it lacks, and installs what is missing in it. pip's own
    settings say where packages come from, but for PyTorch's build for processors."""
    found = wanted(methods)
    if not found:
        raise Failure("none of these methods needs a library")
    if not (python().exists() and (place() / "bin/pip").exists()):
        say(f"making {place()}")
        run([sys.executable, "-m", "venv", str(place())])
    pip = [str(python()), "-m", "pip", "install", "--quiet"]
    if TORCH in found:
        build_for_processors(pip, say)
    say(f"pip install {' '.join(found)}")
    run([*pip, *found])
    run([str(python()), "-c", "; ".join(f"import {named(it)}" for it in found)])
    say(f"installed into {place()}")


def build_for_processors(pip, say):
    """Installs it where its index can be reached; otherwise pip takes the larger one. Both
    satisfy the same requirement, and records name the build."""
    say(f"pip install {FOR_PROCESSORS}")
    try:
        run([*pip, "--no-deps", "--retries", "1", "--index-url", INDEX, FOR_PROCESSORS])
    except Failure as failure:
        say(f"  {INDEX} does not have it ({failure}); PyPI's build does the same")


def run(words):
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        last = (done.stderr.strip() or done.stdout.strip() or "no reason given").splitlines()[-1]
        raise Failure(f"{Path(words[0]).name} failed: {last}")


def begin_anew_in_it(script):
    """Goes on as the environment's Python, if there is one and this is another."""
    if python().exists() and not is_here():
        os.execv(python(), [str(python()), str(script), *sys.argv[1:]])


def db_bench():
    """Installs Debian's db_bench where it is missing, as root on Debian."""
    if shutil.which("db_bench"):
        return
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        raise Failure("db_bench is needed; as root on Debian: apt-get install rocksdb-tools")
    debian.install(["rocksdb-tools"])
    if not shutil.which("db_bench"):
        raise Failure("rocksdb-tools is installed, and there is no db_bench in PATH")
