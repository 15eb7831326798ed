"""What came of it: pure functions from records to figures and text."""

import statistics

import curves
import studies

METRICS = (("throughput", 1.0, "operations/s"), ("get_p99_micros", 1e-3, "get p99, ms"),
           ("put_p99_micros", 1e-3, "put p99, ms"))
# Fewer rounds are no comparison.
LEAST_ROUNDS = 3


def values(finals, contender, metric):
    return [it["metrics"][metric] for it in finals
            if it["contender"] == contender and metric in it.get("metrics", {})]


def standing(own, other):
    """Of two lists of figures, more of which is better. Ranges that meet are a tie."""
    if min(len(own), len(other)) < LEAST_ROUNDS:
        return "too few"
    if max(own) >= min(other) and max(other) >= min(own):
        return "tie"
    return "better" if min(own) > max(other) else "worse"


def ranking(finals, contenders):
    """(contender, throughputs), the best median first; those outside the comparison and
    those that failed are left out."""
    found = [(it, values(finals, it, "throughput")) for it in contenders
             if it not in studies.OUTSIDE]
    return sorted(((it, own) for it, own in found if own),
                  key=lambda pair: -statistics.median(pair[1]))


def ranks(finals, contenders):
    """A rank for each: one more than those that are better for sure."""
    order = ranking(finals, contenders)
    return {own: 1 + sum(standing(theirs, mine) == "better" for _, theirs in order)
            for own, mine in order}


def gain(finals, own, other):
    """How many times another's throughput; None if one is missing."""
    mine, theirs = values(finals, own, "throughput"), values(finals, other, "throughput")
    if not (mine and theirs):
        return None
    return statistics.median(mine) / statistics.median(theirs)


def verdict(finals, contenders, own="dremel", gave_up=False):
    """Whether a method is first: words. Who fails where others do not is behind; `gave_up`
    says that its search failed."""
    order = ranking(finals, contenders)
    mine = dict(order).get(own)
    rivals = [(it, theirs) for it, theirs in order if it != own]
    if not rivals:
        return "nobody to compare with"
    repeats = [it for it in finals if it["contender"] == own]
    failures = sum("failure" in it for it in repeats)
    if gave_up:
        return "behind, for its search failed"
    if failures:
        return f"behind, for it failed in {failures} of {len(repeats)} rounds"
    if mine is None:
        return "not measured"
    if min(len(it) for _, it in order) < LEAST_ROUNDS:
        return "too few rounds"
    ahead = [it for it, theirs in rivals if standing(theirs, mine) == "better"]
    if ahead:
        behind = gain(finals, own, ahead[0])
        return f"behind {', '.join(ahead)} ({100 * (behind - 1):.0f} %)"
    level = [it for it, theirs in rivals if standing(theirs, mine) == "tie"]
    return f"first, a tie with {', '.join(level)}" if level else "first"


def of_method(records, study, finals, method):
    """Whether a method is first in a study: words."""
    gave_up = studies.Held(records).gave_up(study.subject, method)
    return verdict(finals, study.contenders, method, gave_up)


def kind(words):
    """What a verdict counts as."""
    if words.startswith("behind"):
        return "behind"
    if words.startswith("first"):
        return "first" if words == "first" else "tie"
    return "not comparable"


def shown(numbers, factor=1.0):
    """A median with half its range."""
    if not numbers:
        return "-"
    numbers = [it * factor for it in numbers]
    half = (max(numbers) - min(numbers)) / 2
    spread = f" ±{figure(half)}" if len(numbers) > 1 else ""
    return figure(statistics.median(numbers)) + spread


def figure(number):
    return f"{number:,.0f}" if abs(number) >= 100 else f"{number:.3g}"


def times(number):
    return "-" if number is None else f"{number:.2f}"


def study_table(records, study):
    """Rows of one study in one setting, a heading first."""
    finals = [it for it in records if it["type"] == "final" and it["study"] == study.name
              and it["subject"] == study.subject]
    placed = ranks(finals, study.contenders)
    rows = [["", *(title for _, _, title in METRICS), "of the guide's", "rank", "trials",
             "searched"]]
    order = [it for it, _ in ranking(finals, study.contenders)]
    rest = [it for it in study.contenders if it not in order]
    for contender in [*order, *rest]:
        own = [shown(values(finals, contender, metric), factor) for metric, factor, _ in METRICS]
        trials, spent = effort(records, study.subject, contender)
        rank = str(placed.get(contender, "outside" if contender in studies.OUTSIDE else "-"))
        rows.append([contender, *own, times(gain(finals, contender, studies.GUIDE)), rank,
                     trials, spent])
    return finals, rows


def effort(records, subject, method):
    """Trials and time of a search, for the table."""
    found = [it for it in records if it["type"] == "found" and it["subject"] == subject
             and it["method"] == method]
    if not found:
        return "", ""
    trials = [it for it in records if it["type"] == "trial" and it["subject"] == subject
              and it["method"] == method]
    return str(len(trials)), studies.duration(found[0]["spent"])


def aligned(rows):
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join("  " + "  ".join(
        cell.ljust(width) if column == 0 else cell.rjust(width)
        for column, (cell, width) in enumerate(zip(row, widths))).rstrip() for row in rows)


def progress(records, study):
    """What the best so far is worth in full, as a share of what each method found at last."""
    rows = [["after", *study.methods]]
    finals = [it for it in records if it["type"] == "final" and it["study"] == study.name
              and it["subject"] == study.subject]
    for share in studies.SHARES:
        row = [f"{share:.0%} of the time"]
        for method in study.methods:
            last = values(finals, method, "throughput")
            here = [it["metrics"]["throughput"] for it in records if it["type"] == "checkpoint"
                    and it["subject"] == study.subject and it["method"] == method
                    and it["share"] == share and "metrics" in it]
            row.append(f"{here[0] / statistics.median(last):.0%}" if here and last else "-")
        rows.append(row)
    return rows


def time_to_best(records, study):
    """Seconds of the search after which what it found led for good, by method."""
    found = {}
    for method in study.methods:
        trials = [it for it in records if it["type"] == "trial"
                  and it["subject"] == study.subject and it["method"] == method]
        at = curves.settled(curves.best_so_far(trials))
        if at is not None:
            found[method] = at
    return found


def halving(records, subject):
    """What early stopping lost: (throughput of the chosen one, of the best, share); None
    before all ran in full."""
    full = {it["number"]: it["metrics"]["throughput"] for it in records
            if it["type"] == "full" and it["subject"] == subject and "metrics" in it}
    found = [it for it in records if it["type"] == "found" and it["subject"] == subject
             and it["method"] == "dremel"]
    if not (full and found and found[0]["number"] in full):
        return None
    achieved, most = full[found[0]["number"]], max(full.values())
    return achieved, most, achieved / most


def summary(records, chosen):
    """The claims, over all settings of the main comparison."""
    lines, best, found = [], None, {}
    for study in chosen:
        finals, _ = study_table(records, study)
        if not finals:
            continue
        found[study.subject] = of_method(records, study, finals, "dremel")
        if kind(found[study.subject]) == "not comparable":
            continue
        times_guide = gain(finals, "dremel", studies.GUIDE)
        if times_guide and (best is None or times_guide > best[0]):
            best = (times_guide, study.subject)
    if not found:
        return "No setting is complete."
    kinds = [kind(words) for words in found.values()]
    others = [f"{subject}: {words}" for subject, words in found.items()
              if kind(words) == "not comparable"]
    others = f", not comparable in {len(others)} ({'; '.join(others)})" if others else ""
    lines.append(f"Dremel is first in {kinds.count('first')} of {len(kinds)} settings, level "
                 f"with the first in {kinds.count('tie')}, behind in {kinds.count('behind')}"
                 f"{others} (the paper: first in all 18).")
    if best:
        lines.append(f"Its largest gain is {best[0]:.2f} times the guide, in {best[1]} (the "
                     "paper: up to 2.61).")
    return "\n".join(lines)


def render(records, wanted):
    """The whole report as text."""
    text = ["Dremel against other searches"]
    for machine in (it for it in records if it["type"] == "machine"):
        text.append(f"{machine['processor']}, {machine['cores']} cores, {machine['memory']}, "
                    f"{machine['system']}")
    text += sizes(records)
    text += ["", summary(records, [it for it in wanted if it.name == "main"])]
    for study in wanted:
        text += ["", f"{study.name}: {study.subject}", ""]
        text += in_full(records, study) if study.in_full else compared(records, study)
    text += ["", "± is half the range over the rounds. Ranges that meet are a tie, and share a "
                 "rank."]
    return "\n".join(text) + "\n"


def sizes(records):
    """The times that were run beside those that were planned, and what was not alike."""
    plan = next((it for it in records if it["type"] == "plan" and "planned" in it), None)
    text = []
    if plan:
        text.append(f"full evaluations of {plan['evaluation']:g} s, {plan['budget']:g} s for each "
                    f"method, {plan['rounds']} rounds, seed {plan['seed']}")
        shares = [f"{plan[name] / plan['planned'][name]:.0%} of the planned time of {words}"
                  for name, words in (("evaluation", "an evaluation"), ("budget", "a method"))
                  if plan[name] < plan["planned"][name]]
        if shares:
            text.append(f"A SHORTER RUN: {', '.join(shares)}.")
    machines, programs = (sum(it["type"] == kind for it in records)
                          for kind in ("machine", "program"))
    if machines > 1:
        text.append(f"Measured on {machines} machines, or under as many kernels.")
    if programs > 1:
        text.append(f"Measured with {programs} builds of the program.")
    return text


def remarks(records, study):
    """What one should know of the searches: sentences."""
    text = []
    for method in study.methods:
        own = [it for it in records if it.get("subject") == study.subject
               and it.get("method") == method]
        found = next((it for it in own if it["type"] == "found"), None)
        failures = [it["failure"] for it in own if it["type"] == "failed"]
        if failures and not found:
            text.append(f"  {method} failed: {failures[-1]}")
        fallbacks = [it["fallback"] for it in own if "fallback" in it]
        if fallbacks:
            text.append(f"  {method} drew {len(fallbacks)} of its trials, for its library failed "
                        f"({fallbacks[-1]})")
        text += [f"  {method}: {it}" for it in (found or {}).get("notes", [])]
    return text


def compared(records, study):
    finals, rows = study_table(records, study)
    if not finals:
        return [*remarks(records, study), "  not measured"]
    words = of_method(records, study, finals, study.own)
    text = [aligned(rows), "", f"  {study.own}: {words}"]
    failed = [it for it in finals if "failure" in it]
    text += [f"  {it['contender']}, round {it['round'] + 1}: {it['failure']}" for it in failed]
    if study.checkpoints:
        text += ["", "  the best so far, run in full, of what was found at last:",
                 aligned(progress(records, study))]
        near = ", ".join(f"{method} {studies.duration(at)}"
                         for method, at in time_to_best(records, study).items())
        text += [f"  the last to lead led after: {near}"] if near else []
    return text + remarks(records, study)


def in_full(records, study):
    found = halving(records, study.subject)
    if found is None:
        return ["  not measured"]
    achieved, most, share = found
    return [f"  chosen {figure(achieved)}, best of all trials {figure(most)} operations/s: "
            f"{share:.1%} (the paper: 90.8 to 100 %)"]
