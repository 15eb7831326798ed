"""The program that is measured with."""

import hashlib
from pathlib import Path


def fingerprint(path):
    """Equal for the same build."""
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()[:12]
