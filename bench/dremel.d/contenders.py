"""What each contender is run with: from the records of searches."""

import curves
import studies
import subjects
from result_file import matching


def text(records, space, contender, subject):
    """The file that a contender is run with; None if there is none."""
    if contender == studies.GUIDE:
        return space.file(space.default)
    # In the proportion in which the memory is smaller than the paper's, or as they are.
    divisor = 2**30 / subject.constants["memory"]
    if contender in (studies.ROCKSDB, studies.UNSCALED):
        return subjects.rocksdb_defaults(divisor if contender == studies.ROCKSDB else 1)
    if contender in (studies.DB_BENCH, studies.DB_BENCH_UNSCALED):
        return subjects.db_bench_defaults(divisor if contender == studies.DB_BENCH else 1)
    own = configuration(records, contender, subject)
    return space.file(own) if own else None


def configuration(records, contender, subject):
    """What a contender stands for, of those that came of a search; None without one."""
    if contender in studies.BEST:
        found = best_in_full(records, subject)
        place = studies.BEST.index(contender)
        return found[place] if place < len(found) else None
    method, moment = studies.moment_of(contender)
    if moment:
        return led_by_then(records, contender, subject)
    return found_by("dremel" if contender == studies.CHOSEN else method, records, subject)


def found_by(method, records, subject):
    """What a search found at last; None if it measured nothing."""
    found = matching(records, type="found", subject=subject.name, method=method)
    return found[0]["configuration"] if found else None


def led_by_then(records, contender, subject):
    """What led a search early; None before anything was measured."""
    method = studies.moment_of(contender)[0]
    trials = matching(records, type="trial", subject=subject.name, method=method)
    number = curves.leader(trials, studies.seconds_of(contender, subject))
    return next((it["configuration"] for it in trials if it["number"] == number), None)


def best_in_full(records, subject):
    """The best trials, each of which ran in full once, the best first."""
    where = {"subject": subject.name}
    full = [it for it in matching(records, type="full", **where) if "metrics" in it]
    full.sort(key=lambda it: -it["metrics"]["throughput"])
    known = {it["number"]: it["configuration"]
             for it in matching(records, type="trial", method="dremel", **where)}
    return [known[it["number"]] for it in full[:len(studies.BEST)]]


def twin(records, contender, subject):
    """Another contender that has the same configuration and is run for both, if there is one."""
    own = configuration(records, contender, subject)
    if own is None:
        return None
    return next((it for it in earlier_names(contender)
                 if configuration(records, it, subject) == own), None)


def earlier_names(contender):
    """Who may be run for a contender."""
    if contender in studies.BEST:
        return [studies.CHOSEN]
    method, moment = studies.moment_of(contender)
    return [method] if moment else []


def lacking(contender):
    """Why a contender has no file: words."""
    if contender in studies.BEST:
        return "not so many trials could be run in full"
    if studies.moment_of(contender)[1]:
        return "nothing was measured by then"
    return "its search measured nothing"
