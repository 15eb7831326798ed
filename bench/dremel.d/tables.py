"""What came of it, as text."""

import statistics
from textwrap import wrap

import early_ranks
import judge
import sessions
import studies
from held import boots
from judge import METRICS, gain, values


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
    finals = judge.runs_of(records, study)
    placed = judge.ranks(finals, study.contenders)
    rows = [["", *(title for _, _, title in METRICS), "of the guide's", "rank", "trials",
             "searched"]]
    order = [it for it, _ in judge.ranking(finals, study.contenders)]
    rest = [it for it in study.contenders if it not in order]
    for contender in [*order, *rest]:
        own = [shown(values(finals, contender, metric), factor) for metric, factor, _ in METRICS]
        trials, spent = effort(records, study.subject, contender)
        rank = "failed" if judge.failed_rounds(finals, contender) else "-"
        rank = "outside" if contender in studies.OUTSIDE else rank
        rows.append([contender, *own, times(gain(finals, contender, studies.GUIDE)),
                     str(placed.get(contender, rank)), trials, spent])
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


def progress(finals, study):
    """Lines on what led Dremel's search after half of its budget."""
    found = judge.after_half(finals, study)
    if not found:
        return []
    words = "level with" if found.level else "behind"
    return [f"  after half of its budget dremel was {words} what it found at last: {found.ratio:.1%} "
            f"of it, {found.least:.1%} to {found.most:.1%} in the rounds"]


def summary(records, chosen):
    """The claims, over all settings of the main comparison."""
    lines, best, found = [], None, {}
    for study in chosen:
        finals = judge.runs_of(records, study)
        if not finals:
            continue
        found[study.subject] = judge.of_method(records, study, finals, "dremel")
        if judge.kind(found[study.subject]) == "not comparable":
            continue
        times_guide = gain(finals, "dremel", studies.GUIDE)
        if times_guide and (best is None or times_guide > best[0]):
            best = (times_guide, study.subject)
    if not found:
        return "No setting is complete."
    kinds = [judge.kind(words) for words in found.values()]
    others = [f"{subject}: {words}" for subject, words in found.items()
              if judge.kind(words) == "not comparable"]
    others = f", not comparable in {len(others)} ({'; '.join(others)})" if others else ""
    lines.append(f"Dremel is first in {kinds.count('first')} of {len(kinds)} settings, level "
                 f"with the first in {kinds.count('tie')}, behind in {kinds.count('behind')}"
                 f"{others} (the paper: first in all 18).")
    if best:
        lines.append(f"Its largest gain is {best[0]:.2f} times the guide, in {best[1]} (the "
                     "paper: up to 2.61).")
    return "\n".join([*lines, *half_of_the_time(records, chosen)])


def half_of_the_time(records, chosen):
    """Whether half of the time would have done, over all settings of the main comparison."""
    found = [judge.after_half(judge.runs_of(records, it), it) for it in chosen]
    found = [it for it in found if it]
    if not found:
        return []
    level = sum(it.level for it in found)
    half, last = (statistics.median(it) for it in zip(*((it.half, it.last) for it in found)))
    return ["What led its search after half of its budget is level with what it found at last, which "
            f"is {judge.LEVEL:.0%} of",
            f"its median or more, in {level} of {len(found)} settings; as a share of the best "
            f"median of a setting {half:.0%}",
            f"against {last:.0%}, medians over the settings."]


def render(records, wanted, unmeasured=()):
    """The whole report as text; of studies that are unmeasured the names."""
    text = ["Dremel against other searches", *origins(records), *sizes(records)]
    text += ["", summary(records, [it for it in wanted if it.name == "main"])]
    if unmeasured:
        names = ", ".join(f"{it.name} {it.subject}" for it in unmeasured)
        text += [f"Not measured at all: {names}."]
    for study in wanted:
        text += ["", f"{study.name}: {study.subject}", "", *mixed(records, study)]
        if study.in_full:
            text += in_full(records, study)
        elif study.sessions:
            text += under_sessions(records, study) + remarks(records, study)
        else:
            text += compared(records, study)
    return "\n".join([*text, "", *reading(records)]) + "\n"


def reading(records):
    """How figures are to be read: sentences."""
    seeds = {it["seed"] for it in records if it["type"] == "plan" and "seed" in it}
    seed = "".join(f", of seed {it}" for it in seeds)
    return ["± is half the range over the rounds. Ranges that meet are a tie, and share a rank; of "
            "two that are",
            "alike, three rounds against three lie apart by chance in 2 of 20 pairs.",
            f"Each method has searched once{seed}: ± is the spread of runs of what it found, and "
            "has nothing of the",
            "chance in a search itself."]


def origins(records):
    """Machines and libraries."""
    text = [f"{it['processor']}, {it['cores']} cores, {it['memory']}, {it['system']}"
            for it in records if it["type"] == "machine"]
    libraries = [f"{it['name']} {it['version']}" for it in records if it["type"] == "library"]
    text += [f"libraries: {', '.join(libraries)}"] if libraries else []
    for it in (it for it in records if it["type"] == "environment"):
        text += wrap(f"installed beside them, under Python {it['python']}: "
                     f"{' '.join(it['packages'])}", 100, break_on_hyphens=False)
    return list(dict.fromkeys(text))


def sizes(records):
    """The times that were run beside those that were planned, and what was not alike."""
    plan = next((it for it in records if it["type"] == "plan" and "planned" in it), None)
    text = []
    if plan:
        text.append(f"full evaluations of {plan['evaluation']:g} s, {plan['budget']:g} s and "
                    f"{plan['setups']:g} set-ups for each method, {plan['rounds']} rounds, seed "
                    f"{plan['seed']}")
        shares = [f"{plan[name] / plan['planned'][name]:.0%} of the planned time of {words}"
                  for name, words in (("evaluation", "an evaluation"), ("budget", "a method"))
                  if plan[name] < plan["planned"][name]]
        if shares:
            text.append(f"A SHORTER RUN: {', '.join(shares)}.")
    machines, programs = (sum(it["type"] == kind for it in records)
                          for kind in ("machine", "program"))
    if machines > 1:
        text.append(f"Measured under {machines} boots of a machine, or of as many machines.")
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
        elif not found:
            text.append(f"  {method} has not searched" + (" to its end" if own else ""))
        fallbacks = [it["fallback"] for it in own if "fallback" in it]
        if fallbacks:
            text.append(f"  {method} drew {len(fallbacks)} of its trials, for its library failed "
                        f"({fallbacks[-1]})")
        text += [f"  {method}: {it}" for it in (found or {}).get("notes", [])]
        shared = [it["shared"] for it in own if "shared" in it]
        if shared:
            text.append(f"  {method} begins with the same {len(shared)} trials as {shared[0]}, "
                        "which ran once and count in the time of both")
    return text


def mixed(records, study):
    """Whether what is compared is of one machine: a sentence if not."""
    known = len(boots(records, study))
    return [f"  MEASURED UNDER {known} BOOTS, or on as many machines", ""] if known > 1 else []


def failures(finals):
    """Runs that failed: sentences."""
    text = []
    for it in finals:
        if "failure" in it:
            lost = it["round"] in judge.failed_rounds(finals, it["contender"])
            again = "" if lost else "; run once more, it went well"
            text.append(f"  {it['contender']}, round {it['round'] + 1}: {it['failure']}{again}")
    return list(dict.fromkeys(text))


def compared(records, study):
    finals, rows = study_table(records, study)
    if not finals:
        return [*remarks(records, study), "  not measured"]
    words = judge.of_method(records, study, finals, study.own)
    text = [aligned(rows), ""]
    # Who had less time is not judged by what others found in more.
    text += in_time_of(finals, study) if study.shortest else [f"  {study.own}: {words}"]
    if study.name == "both":
        text += [f"  dremel-both against dremel in {title}: {standing}"
                 for title, standing in judge.both(finals)]
    text += failures(finals)
    if study.early:
        text += progress(finals, study)
        near = ", ".join(f"{method} {studies.duration(at)}"
                         for method, at in judge.time_to_best(records, study).items())
        text += [f"  the last to lead led after: {near}"] if near else []
    return text + remarks(records, study)


def in_time_of(finals, study):
    """Lines on methods with different times: what they had found in the time of the one with
    the least, and at last."""
    rows = [["", f"in the time of {study.shortest}", "times it", "", "in its own time", "times it",
             ""]]
    for method, *against in judge.in_time_of(finals, study):
        row = [method]
        for contender, (factor, standing) in zip(study.moments(method), against):
            row += [shown(values(finals, contender, "throughput")), times(factor), standing]
        rows.append(row)
    return ["  operations/s, and how they stand against what "
            f"{study.shortest} found at last:", aligned(rows)]


def in_full(records, study):
    text = []
    once = judge.single_runs(records, study.subject)
    finals = judge.runs_of(records, study)
    found = judge.halving(finals)
    if found:
        achieved, most, standing = found
        text.append(f"  by turns: chosen {figure(achieved)}, the best {figure(most)} operations/s: "
                    f"{achieved / most:.1%}, {standing} (the paper: 90.8 to 100 %)")
    if once:
        achieved, most, trials = once
        text.append(f"  by single runs: chosen {figure(achieved)}, the most of {trials} "
                    f"{figure(most)} operations/s: {achieved / most:.1%}; the most of many is the "
                    "luckiest")
    return text + over_time(records, study.subject) + failures(finals) or ["  not measured"]


def over_time(records, subject):
    """Lines on whether ranks hold from early on."""
    found = early_ranks.moments(records, subject)
    if not found:
        return []
    rows = [["after", "ranks against the end", "against what came after", "the best one's place",
             "the leader's end"]]
    for it in found:
        mark = " *" if it.compared else ""
        rows.append([f"{it.second:.1f} s{mark}", times(it.with_end), times(it.with_rest),
                     f"{it.place} of {it.trials}", f"{it.leader:.1%}"])
    return ["", "  whether ranks hold from early on: rank correlations of the means so far, the place "
            "that the",
            "  best trial had then, and what the leader of then is worth at the end, of the best.",
            "  * is where the search compared its trials:", aligned(rows)]


def under_sessions(records, study):
    """Real sessions under the settings as given and as found, with and without the learner."""
    found = judge.real_sessions(records, study)
    if not found:
        return ["  not measured"]
    given = found.get(sessions.LEARNED)
    rows = [["", "seconds in all", "times as fast as learned"]]
    for contender in (it for it in sessions.CONTENDERS if it in found):
        own = found[contender]
        faster = statistics.median(given) / statistics.median(own) if given else None
        rows.append([contender, shown(own), times(faster)])
    text = [aligned(rows), ""]
    for own, other in ((sessions.FOUND, sessions.FIXED), (sessions.FOUND, sessions.LEARNED),
                       (sessions.BOTH, sessions.LEARNED), (sessions.BOTH, sessions.FOUND)):
        if own in found and other in found:
            # Of seconds fewer are better.
            words = judge.standing([-it for it in found[own]], [-it for it in found[other]])
            text.append(f"  {own} against {other}: {words}")
    failed = [it for it in records if it["type"] == "sessions" and "failure" in it]
    return text + [f"  the settings as {it['side']}, round {it['round'] + 1}: {it['failure']}"
                   for it in failed]
