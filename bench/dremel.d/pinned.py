"""The program that a campaign measures with: a copy that no build replaces."""

import shutil
from pathlib import Path

from failure import Failure
from program import fingerprint


def pin(program, place, results, other=False):
    """The copy of a program under `place`. One that the results do not know is refused
    unless `other` says that it is wanted: figures of two builds would mix."""
    own = fingerprint(program)
    held = [it["sha256"] for it in results.all(type="program")]
    if held and own not in held and not other:
        raise Failure(f"{program} is another build than the one that {results.path} was measured "
                      f"with: give --lissom {copy_of(held[-1], place)} to go on with that one, or "
                      "--other-program to go on with this one")
    copy = copy_of(own, place)
    if not (copy.is_file() and fingerprint(copy) == own):
        make(copy, program, own)
    return copy


def copy_of(sha256, place):
    return Path(place).resolve() / "program" / f"lissom-{sha256}"


def make(copy, program, own):
    copy.parent.mkdir(parents=True, exist_ok=True)
    part = copy.with_suffix(".part")
    shutil.copy2(program, part)
    if fingerprint(part) != own:
        part.unlink()
        raise Failure(f"{program} changed while it was copied: wait until it is built")
    part.replace(copy)
