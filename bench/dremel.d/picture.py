"""Curves as SVG that needs nothing else."""

import math
import statistics
from html import escape

import curves
import judge
import studies

WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 900, 340, 84, 40, 46
COLOURS = {"dremel": "#0072b2", "random": "#999999", "single-task": "#d55e00",
           "multi-task": "#009e73", "tpe": "#cc79a7"}
OTHER = "#56b4e9"


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


def legend(names):
    return "".join(
        f'<rect x="{LEFT + 140 * number}" y="28" width="20" height="4" fill="{colour_of(name)}"/>'
        f'<text x="{LEFT + 140 * number + 26}" y="35">{escape(name)}</text>'
        for number, name in enumerate(names))


def colour_of(name):
    return COLOURS.get(name, OTHER)


def searches(records, study, budget):
    """The best so far of each method over the time of its search. Dots: what it is worth
    in full evaluations of its own."""
    found = {}
    for method in study.methods:
        trials = [it for it in records if it["type"] == "trial"
                  and it["subject"] == study.subject and it["method"] == method]
        found[method] = [(at, value) for at, _, value in curves.best_so_far(trials)]
    dots = dots_of(records, study, budget)
    heights = [value for points in [*found.values(), *dots.values()] for _, value in points]
    frame = Frame(budget, max(heights, default=1))
    parts = frame.axes(f"{study.subject}: best so far, operations a second",
                       "time of the search; dots: the best so far in full evaluations")
    parts.append(legend(study.methods))
    for method, points in found.items():
        places, last = [], None
        for at, value in points:
            if last is not None:
                places.append((frame.x(min(at, budget)), frame.y(last)))
            places.append((frame.x(min(at, budget)), frame.y(value)))
            last = value
        if last is not None:
            places.append((frame.x(budget), frame.y(last)))
            parts.append(line(places, colour_of(method)))
    parts += [f'<circle cx="{frame.x(at):.1f}" cy="{frame.y(value):.1f}" r="4" '
              f'fill="{colour_of(method)}"/>'
              for method, points in dots.items() for at, value in points]
    return "\n".join([*parts, "</svg>"])


def dots_of(records, study, budget):
    """(second, median throughput in full evaluations) of what led at shares of the time, and
    at last, by method."""
    finals, found = judge.runs_of(records, study), {}
    for method in study.methods:
        moments = [(share, studies.at_share(method, share)) for share in studies.SHARES]
        own = [(share * budget, judge.values(finals, contender, "throughput"))
               for share, contender in [*moments, (1.0, method)]]
        found[method] = [(at, statistics.median(it)) for at, it in own if it]
    return found


def running(records, subject):
    """Throughput of the search's trials over their running time: the mean since the start,
    which is what trials are compared by. A dot is where one was stopped."""
    trials = [it for it in records if it["type"] == "trial" and it["subject"] == subject
              and it["method"] == "dremel" and it.get("series")]
    found = next((it["number"] for it in records if it["type"] == "found"
                  and it["subject"] == subject and it["method"] == "dremel"), None)
    means = {it["number"]: mean_so_far(it["series"]) for it in trials}
    frame = Frame(max((points[-1][0] for points in means.values()), default=1),
                  max((value for points in means.values() for _, value in points), default=1))
    parts = frame.axes(f"{subject}: trials of the search, mean since their start, operations a "
                       "second", "running time of a trial; blue: the one that was chosen")
    for number, points in sorted(means.items(), key=lambda it: it[0] == found):
        colour = COLOURS["dremel"] if number == found else "#bbbbbb"
        places = [(frame.x(at), frame.y(value)) for at, value in points]
        parts.append(line(places, colour, 2.2 if number == found else 1))
        parts.append(f'<circle cx="{places[-1][0]:.1f}" cy="{places[-1][1]:.1f}" r="2.5" '
                     f'fill="{colour}"/>')
    return "\n".join([*parts, "</svg>"])


def mean_so_far(series):
    """(second, mean throughput since the start) of (second, throughput)."""
    found, before, total = [], 0.0, 0.0
    for second, throughput in series:
        total += throughput * max(second - before, 0.0)
        before = second
        if second > 0:
            found.append((second, total / second))
    return found or [(0.0, 0.0)]
