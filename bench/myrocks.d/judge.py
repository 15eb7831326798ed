"""What came of the runs: pure functions from records to figures."""

import itertools
import math
import statistics

# A second under this share of its offered transactions is a dip.
CARRIED = 0.95
# A load is carried as long as no more of it is behind than is due in so many seconds at the
# high rate. A dip is no sign of the contrary: where latency grows by some hundredths of a second
# for as long as a merge runs, the second in which it begins lacks what comes later.
MOST_BEHIND = 1.0

# (key, title, factor, digits); less is better in all but the first two.
FIGURES = [
    ("tps", "transactions a second", 1, 1),
    ("tps_high", "the same in high phases", 1, 1),
    ("unserved", "offered and never done, %", 100, 1),
    ("dips", "seconds under 95 % of the offered load, %", 100, 1),
    ("slowest", "slowest second, % of the offered load", 100, 0),
    ("variation", "variation of high phases, %", 100, 1),
    ("p99", "p99, ms", 1, 1),
    ("p999", "p99.9, ms", 1, 1),
    ("longest", "longest, ms", 1, 0),
    ("stall_seconds", "stalled, s", 1, 2),
    ("write_amplification", "write amplification, debt repaid", 1, 2),
    ("mean_level0_files", "files in L0, mean", 1, 1),
    ("most_level0_files", "files in L0, most", 1, 0),
    ("delayed", "time delayed, %", 100, 0),
    ("changed", "time with any changed setting, %", 100, 0),
]
MORE_IS_BETTER = {"tps", "tps_high", "slowest"}
NEITHER_IS_BETTER = {"mean_level0_files", "most_level0_files", "delayed", "changed"}
# By the ways in which the agent delays; all else that it sets goes with that.
DELAYING = ["level0_file_num_compaction_trigger", "max_bytes_for_level_base",
            "disable_auto_compactions"]
# A latency is known only where so much was served: the rest is later than all that was.
UNKNOWN_FROM = {"p50": 0.5, "p99": 0.01, "p999": 0.001, "longest": 0.001}


def quantile(ordered, share):
    """The least value that `share` of them do not exceed; None without any."""
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else None


def is_high(plan, second):
    """Whether the second that begins then lies in a high phase."""
    return second % (plan["high_seconds"] + plan["low_seconds"]) < plan["high_seconds"]


def offered(plan, high, low, second):
    """Transactions that become due in the second that begins then."""
    return high if is_high(plan, second) else low


def by_second(ended, seconds):
    """(seconds from the start, milliseconds) of each transaction, as one record for each
    second in which they ended."""
    groups = [[] for _ in range(seconds)]
    for at, latency in ended:
        if 0 <= at < seconds:
            groups[int(at)].append(latency)
    records = []
    for at, latencies in enumerate(groups):
        latencies.sort()
        records.append({"at": at, "tps": len(latencies), "p50": quantile(latencies, 0.5),
                        "p99": quantile(latencies, 0.99),
                        "max": latencies[-1] if latencies else None})
    return records


def dips(seconds):
    """Share of the seconds in which too little was done of what was offered."""
    return sum(it["tps"] < CARRIED * it["offered"] for it in seconds) / len(seconds)


def behind(seconds):
    """The most that was due and not done at a second's end, in seconds of the highest rate."""
    high = max(record["offered"] for record in seconds)
    left = itertools.accumulate(record["offered"] - record["tps"] for record in seconds)
    return max(0, *left) / high


def is_carried(most_behind):
    """Whether a server carries a load, by how far it was behind."""
    return most_behind <= MOST_BEHIND


def grown(samples, name):
    """How much a counter grew between the first sample and the last."""
    return samples[-1][name] - samples[0][name]


def totals(seconds, samples, settled, ended, own):
    """One run's figures, from its seconds, what the server told at each second's end (and
    once before), what it told when it had repaid its debt, its transactions, and the
    server's own options."""
    latencies = sorted(latency for _, latency in ended)
    high = max(record["offered"] for record in seconds)
    in_high = [record["tps"] for record in seconds if record["offered"] == high]
    files = [sample["level0_files"] for sample in samples[1:]]
    repaid = [samples[0], settled]
    written = grown(repaid, "flush_write_bytes") + grown(repaid, "compact_write_bytes")
    options = [sample["options"] for sample in samples[1:]]
    return {
        "tps": sum(record["tps"] for record in seconds) / len(seconds),
        "tps_high": statistics.fmean(in_high),
        "unserved": max(0.0, 1 - len(latencies) / sum(it["offered"] for it in seconds)),
        "dips": dips(seconds),
        "slowest": min(record["tps"] / record["offered"] for record in seconds),
        "variation": variation(in_high),
        "p50": quantile(latencies, 0.5),
        "p99": quantile(latencies, 0.99),
        "p999": quantile(latencies, 0.999),
        "longest": latencies[-1] if latencies else None,
        "stall_seconds": grown(samples, "stall_micros") / 1e6,
        "stalls": {name: grown(samples, name) for name in samples[0]
                   if name.startswith("stall_") and name != "stall_micros"},
        "write_amplification": written / max(1, grown(repaid, "bytes_written")),
        "mean_level0_files": statistics.fmean(files),
        "most_level0_files": max(files),
        "delayed": share_of(options, lambda now: any(now[name] != own[name] for name in DELAYING)),
        "changed": share_of(options, lambda now: now != own),
        "transactions": len(latencies),
    }


def share_of(values, is_so):
    return sum(map(is_so, values)) / len(values)


def is_bound(run, key):
    """Whether a run's figure is only the least that it can be: transactions that were never
    served have no latency."""
    return run["unserved"] > UNKNOWN_FROM.get(key, 1)


def variation(values):
    """Standard deviation over mean."""
    mean = statistics.fmean(values)
    return statistics.stdev(values) / mean if len(values) > 1 and mean > 0 else 0.0


def client_bytes(before, after, seconds):
    """Bytes per second that clients move, as the agent estimates them: blocks that came
    into the cache, and the log."""
    names = ["block_cache_data_bytes_insert", "block_cache_index_bytes_insert",
             "block_cache_filter_bytes_insert", "wal_bytes"]
    return sum(after[name] - before[name] for name in names) / seconds


def client_bytes_at_high(plan, samples):
    """The same in high phases, from what the server told at the origin and at the end of each
    second."""
    pairs = enumerate(zip(samples, samples[1:]))
    return statistics.fmean(client_bytes(before, after, 1) for second, (before, after) in pairs
                            if is_high(plan, second))


def limits(maximum):
    """The agent's limits, from what clients move at the maximum: its high rate is nine
    tenths of it, its low rate less than a quarter."""
    client = maximum["client_bytes"]
    return {"io_limit": client, "io_high_limit": 0.7 * client, "io_low_limit": 0.45 * client}


def standing(key, off, on, off_is_bound=False, on_is_bound=False):
    """Whether the agent wins. Ranges that meet are a tie; fewer than three repeats are
    no comparison. Whoever is better by a figure that may be higher in truth is not known to
    be."""
    if key in NEITHER_IS_BETTER:
        return ""
    if min(len(off), len(on)) < 3:
        return "too few"
    if max(on) >= min(off) and max(off) >= min(on):
        return "tie"
    wins = (min(on) > max(off)) == (key in MORE_IS_BETTER)
    if on_is_bound if wins else off_is_bound:
        return "not known"
    return "gain" if wins else "loss"


def shown(values, factor, digits, is_bound=False):
    """A median with half its range."""
    values = [value * factor for value in values]
    if not values:
        return "-"
    half = (max(values) - min(values)) / 2
    spread = f" ±{half:.{digits}f}" if len(values) > 1 else ""
    least = ">= " if is_bound else ""
    return f"{least}{statistics.median(values):.{digits}f}{spread}"


def table(runs):
    """Figures as rows, the agent off and on as columns."""
    rows = [["", "off", "on", "with the agent"]]
    for key, title, factor, digits in FIGURES:
        # Results of an earlier version lack some.
        by_arm = {arm: [run for run in runs if run["arm"] == arm and run.get(key) is not None]
                  for arm in ("off", "on")}
        off, on = ([run[key] for run in by_arm[arm]] for arm in ("off", "on"))
        bounds = [any(is_bound(run, key) for run in by_arm[arm]) for arm in ("off", "on")]
        rows.append([title, shown(off, factor, digits, bounds[0]),
                     shown(on, factor, digits, bounds[1]), standing(key, off, on, *bounds)])
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    lines = []
    for row in rows:
        cells = [row[0].ljust(widths[0]), row[1].rjust(widths[1]), row[2].rjust(widths[2]), row[3]]
        lines.append("  " + "   ".join(cells).rstrip())
    return "\n".join(lines)


def render(records):
    """The whole report as text."""
    plan = records[0]
    runs = [record for record in records if record["type"] == "run"]
    text = [f"MyRocks, sysbench oltp_read_write, {plan['tables']} tables of "
            f"{plan['table_size']:,} rows"]
    machines = [record for record in records if record["type"] == "machine"]
    for machine in machines:
        text.append(f"{machine['server']}, {machine['processor']}, {machine['cores']} cores, "
                    f"{machine['system']}")
    if len(machines) > 1:
        text.append("Measured on several machines, under several starts of one, or by several "
                    "programs: runs may not compare.")
    text += search(records)
    if runs:
        text.append(f"offered: {runs[0]['high']:.0f} a second for {plan['high_seconds']} s, then "
                    f"{runs[0]['low']:.0f} for {plan['low_seconds']} s, by turns, "
                    f"{plan['seconds']} s a run; {len(runs)} runs")
        text += ["", table(runs), "", "± is half the range over the repeats. Ranges that meet "
                 "are a tie. >= stands where too many",
                 "transactions were never served, whose latency is longer than any: 1 % for p99, "
                 "0.1 % for p99.9 and the longest."]
    kills = [record for record in records if record["type"] == "kill"]
    if kills:
        text += ["", "Killed at high load"]
        text += [f"  {sentence(kill)}" for kill in kills]
    return "\n".join(text) + "\n"


def search(records):
    """How the maximum was found, as lines."""
    def of(kind):
        return [record for record in records if record["type"] == kind]

    loops = [f"{it['tps']:.0f} with {it['threads']} threads" for it in of("closed loop")]
    trials = [f"{it['tps']:.0f}: {it['behind']:.1f} s, {100 * it['dips']:.0f} %"
              for it in of("trial")]
    lines = []
    if loops:
        lines.append(f"closed loops, transactions a second: {', '.join(loops)}")
    if trials:
        lines.append("tried as the maximum; how far behind at most, and seconds under 95 %: "
                     f"{', '.join(trials)}")
    lines += [f"maximum {it['tps']:.0f} transactions a second; clients move "
              f"{it['client_bytes'] / 1e6:.1f} MB/s then" for it in of("maximum")]
    return lines


def sentence(kill):
    """What a kill did to the server's settings."""
    changed = [name for name in kill["before"] if kill["after"][name] != kill["before"][name]]
    if changed:
        end = "; ".join(f"{name} {kill['after'][name]}, was {kill['before'][name]}"
                        for name in changed)
        return f"{kill['case']}: NOT restored: {end}"
    return (f"{kill['case']}: original settings again, by {kill['by']}, "
            f"{kill['seconds']:.1f} s after the kill")
