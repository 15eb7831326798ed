"""The best so far over the time of a search: pure."""

REACHED = 0.99


def best_so_far(trials):
    """(second of the search, number of the trial, throughput as measured) whenever another
    trial leads. Of trials that ran for different times those that ran longest are compared:
    early figures are of a tree that has not filled."""
    events = sorted((reading["at"], trial["number"], reading["seconds"],
                     reading["metrics"].get("throughput", 0.0))
                    for trial in trials for reading in readings(trial))
    latest, leads, found = {}, None, []
    for at, number, seconds, throughput in events:
        latest[number] = (seconds, throughput)
        longest = max(it[0] for it in latest.values())
        eligible = {it: value for it, (ran, value) in latest.items() if ran >= REACHED * longest}
        best = max(eligible, key=lambda it: (eligible[it], -it))
        if (best, eligible[best]) != leads:
            leads = (best, eligible[best])
            found.append((at, *leads))
    return found


def readings(trial):
    """A search's trials have several readings, a rival's one."""
    if "readings" in trial:
        return trial["readings"]
    if "metrics" in trial:
        return [{"at": trial["at"], "seconds": trial["seconds"], "metrics": trial["metrics"]}]
    return []


def leader(trials, second):
    """The number of the trial that led then; None before any was measured."""
    found = [number for at, number, _ in best_so_far(trials) if at <= second]
    return found[-1] if found else None


def settled(leads):
    """When the last to lead took the lead for good; None without any."""
    if not leads:
        return None
    last, at = leads[-1][1], leads[-1][0]
    for begun, number, _ in reversed(leads):
        if number != last:
            break
        at = begun
    return at


def mean(series, begin, end):
    """The mean throughput between two seconds of a trial, of (second, throughput) of samples,
    each since the one before; None where none ended there."""
    total = seconds = before = 0.0
    for second, throughput in series:
        took = max(second - before, 0.0)
        before = second
        if begin < second <= end:
            total += throughput * took
            seconds += took
    return total / seconds if seconds else None


def mean_so_far(series):
    """(second, mean throughput since the start) of (second, throughput)."""
    found, before, total = [], 0.0, 0.0
    for second, throughput in series:
        total += throughput * max(second - before, 0.0)
        before = second
        if second > 0:
            found.append((second, total / second))
    return found or [(0.0, 0.0)]
