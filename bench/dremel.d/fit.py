"""What can be measured here, and why the rest cannot be."""

import install
import studies
from failure import Failure
from held import boots, left

ELSEWHERE = ("it was begun on another machine, or before this one was booted, and what is compared "
             "has to be of one: give another --out, or go on with --other-machine")


def fit(found, known, results, rounds, other_machine, say):
    """The studies that can be measured; of the others it says why not."""
    fitting = []
    for study in found:
        steps = studies.steps(study, known[study.subject], rounds)
        reason = unfit(study, results, other_machine) if left(steps, results.records) else None
        if reason:
            say(f"{told(study)} is passed over: {reason}")
        else:
            fitting.append(study)
    return fitting


def unfit(study, results, other_machine):
    """Why a study cannot be measured; None if it can be."""
    if not other_machine and begun_elsewhere(study, results.records, results.boot):
        return ELSEWHERE
    try:
        if study.name == "db-bench":
            install.db_bench()
    except Failure as failure:
        return str(failure)
    return None


def begun_elsewhere(study, records, boot):
    """Whether some of it was measured under another boot, or on another machine."""
    return bool(boots(records, study) - {boot})


def told(study):
    return f"{study.name} {study.subject}"
