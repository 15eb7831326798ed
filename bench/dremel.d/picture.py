"""Curves as SVG that need nothing else."""

import math
import statistics
from html import escape
from itertools import cycle

import curves
import early_ranks
import judge
import studies

WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 900, 340, 84, 40, 46
COLOURS = {"dremel": "#0072b2", "random": "#999999", "single-task": "#d55e00",
           "multi-task": "#009e73", "tpe": "#cc79a7"}
# In turn for methods without a colour of their own.
OTHERS = ("#56b4e9", "#e69f00", "#000000", "#f0e442")
FAINT = "#bbbbbb"


class Frame:
    """Axes from 0, and places on them."""

    def __init__(self, most_x, most_y):
        self.most_x, self.most_y = most_x or 1.0, (most_y or 1.0) * 1.05

    def x(self, value):
        return LEFT + (WIDTH - LEFT - 16) * value / self.most_x

    def y(self, value):
        return TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / self.most_y)

    def axes(self, title, along, unit="s"):
        parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
                 f'width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif" font-size="12">',
                 f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
                 f'<text x="{LEFT}" y="18" font-size="14">{escape(title)}</text>']
        for mark in marks(self.most_y):
            y = self.y(mark)
            parts.append(f'<path d="M{LEFT} {y:.1f}H{WIDTH - 16}" stroke="#ddd"/>'
                         f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{mark:,g}</text>')
        for mark in marks(self.most_x):
            parts.append(f'<text x="{self.x(mark):.1f}" y="{HEIGHT - 22}" text-anchor="middle" '
                         f'fill="#666">{mark:g} {unit}</text>')
        parts.append(f'<text x="{LEFT}" y="{HEIGHT - 6}" fill="#666">{escape(along)}</text>')
        return parts


def marks(most):
    raw = most / 5
    power = 10 ** math.floor(math.log10(raw))
    step = next(step * power for step in (1, 2, 5, 10) if step * power >= raw)
    return [step * number for number in range(int(most / step) + 1)]


def line(points, colour, width=1.5, more=""):
    places = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return (f'<polyline fill="none" stroke="{colour}" stroke-width="{width}" {more}'
            f'points="{places}"/>')


def legend(chosen):
    """Names with their colours."""
    return "".join(
        f'<rect x="{LEFT + 150 * number}" y="28" width="20" height="4" fill="{colour}"/>'
        f'<text x="{LEFT + 150 * number + 26}" y="35">{escape(name)}</text>'
        for number, (name, colour) in enumerate(chosen.items()))


def colours(names):
    """A colour for each name."""
    others = cycle(OTHERS)
    return {it: COLOURS.get(it) or next(others) for it in names}


def searches(records, study, subject):
    """The best so far of each method over the time of its search. Dots: what it is worth
    in full evaluations of its own."""
    chosen, found = colours(study.methods), {}
    for method in study.methods:
        trials = [it for it in records if it["type"] == "trial"
                  and it["subject"] == study.subject and it["method"] == method]
        found[method] = [(at, value) for at, _, value in curves.best_so_far(trials)]
    dots = dots_of(records, study, subject)
    heights = [value for points in [*found.values(), *dots.values()] for _, value in points]
    budgets = {it: studies.budget(it, subject) for it in study.methods}
    frame = Frame(max(budgets.values()), max(heights, default=1))
    parts = frame.axes(f"{study.subject}: best so far, operations a second",
                       "time of the search; dots: the best so far in full evaluations")
    parts.append(legend(chosen))
    for method, points in found.items():
        if points:
            parts.append(line(stairs(frame, points, budgets[method]), chosen[method]))
    parts += [f'<circle cx="{frame.x(at):.1f}" cy="{frame.y(value):.1f}" r="4" '
              f'fill="{chosen[method]}"/>'
              for method, points in dots.items() for at, value in points]
    return "\n".join([*parts, "</svg>"])


def stairs(frame, points, end):
    """Places of figures that hold until the next one, and the last one to the end."""
    places, last = [], None
    for at, value in [*points, (end, points[-1][1])]:
        if last is not None:
            places.append((frame.x(min(at, end)), frame.y(last)))
        places.append((frame.x(min(at, end)), frame.y(value)))
        last = value
    return places


def dots_of(records, study, subject):
    """(second, median throughput in full evaluations) of what led early, and at last, by
    method."""
    finals, found = judge.runs_of(records, study), {}
    for method in study.methods:
        own = [(studies.seconds_of(it, subject), judge.values(finals, it, "throughput"))
               for it in study.moments(method)]
        found[method] = [(at, statistics.median(it)) for at, it in own if it]
    return found


def running(records, subject):
    """Throughput of the search's trials over their running time: the mean since the start,
    which is what trials are compared by. A dot is where one was stopped."""
    found = chosen(records, subject)
    return trajectories(sampled(records, subject), {found: COLOURS["dremel"]},
                        f"{subject}: trials of the search, mean since their start, operations "
                        "a second", "running time of a trial; blue: the one that was chosen")


def sampled(records, subject):
    """Samples of the search's trials, by number; slim records have none."""
    return {it["number"]: it["series"] for it in records if it["type"] == "trial"
            and it["subject"] == subject and it["method"] == "dremel" and it.get("series")}


def in_full(records, subject):
    """The same of all trials of the search, none of them stopped. Dashed: where the search
    compared them."""
    trials, found = early_ranks.in_full(records, subject), chosen(records, subject)
    best = max(trials, key=lambda it: curves.mean_so_far(trials[it])[-1][1], default=None)
    return trajectories(trials, {best: COLOURS["single-task"], found: COLOURS["dremel"]},
                        f"{subject}: all trials in full, mean since their start, operations a "
                        "second", "running time of a trial; blue: the one that was chosen, red: "
                        "the best, if another; dashed: where the search compared them",
                        early_ranks.points(records, subject))


def chosen(records, subject):
    """The number of the trial that the search chose; None without any."""
    return next((it["number"] for it in records if it["type"] == "found"
                 and it["subject"] == subject and it["method"] == "dremel"), None)


def trajectories(series, strong, title, along, marked=()):
    """Means since the start over the running time. `strong` are colours of numbers that stand
    out, `marked` are seconds."""
    means = {number: curves.mean_so_far(it) for number, it in series.items()}
    frame = Frame(max((points[-1][0] for points in means.values()), default=1),
                  max((value for points in means.values() for _, value in points), default=1))
    parts = frame.axes(title, along)
    parts += [f'<path d="M{frame.x(it):.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="#666" '
              'stroke-dasharray="4 4"/>' for it in marked]
    for number, points in sorted(means.items(), key=lambda it: it[0] in strong):
        colour = strong.get(number, FAINT)
        places = [(frame.x(at), frame.y(value)) for at, value in points]
        parts.append(line(places, colour, 2.2 if number in strong else 1))
        parts.append(f'<circle cx="{places[-1][0]:.1f}" cy="{places[-1][1]:.1f}" r="2.5" '
                     f'fill="{colour}"/>')
    return "\n".join([*parts, "</svg>"])
