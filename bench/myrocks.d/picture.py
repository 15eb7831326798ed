"""Transactions, latency and files in L0 by second, as one SVG that needs nothing else."""

import math
from html import escape

WIDTH, PANEL, LEFT, RIGHT, TOP, GAP = 1100, 130, 78, 24, 76, 46
COLOURS = {"off": "#d55e00", "on": "#0072b2"}
PANELS = [("tps", "transactions a second", False), ("p99", "p99, ms", True),
          ("level0_files", "files in L0", False)]


def draw(records):
    """The picture of all runs; one group of panels for each repeat."""
    plan = records[0]
    seconds = [record for record in records if record["type"] == "second"]
    repeats = sorted({record["repeat"] for record in seconds})
    height = TOP + len(repeats) * len(PANELS) * (PANEL + GAP)
    parts = [head(height)]
    top = TOP
    for repeat in repeats:
        own = [record for record in seconds if record["repeat"] == repeat]
        for key, title, logarithmic in PANELS:
            scale = Scale(values(seconds, key), logarithmic, top)
            parts += panel(plan, own, key, f"repeat {repeat + 1}: {title}", scale)
            top += PANEL + GAP
    return "\n".join([*parts, "</svg>"]) + "\n"


def head(height):
    legend = "".join(
        f'<rect x="{LEFT + 150 * number}" y="32" width="22" height="4" fill="{colour}"/>'
        f'<text x="{LEFT + 150 * number + 28}" y="39">agent {arm}</text>'
        for number, (arm, colour) in enumerate(COLOURS.items()))
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
            f'width="{WIDTH}" height="{height}" font-family="sans-serif" font-size="12">\n'
            f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>\n'
            f'<text x="{LEFT}" y="20" font-size="15">MyRocks under a periodic load; grey: high '
            f'phases</text>\n{legend}')


def value(record, key):
    return record["server"][key] if key == "level0_files" else record[key]


def values(records, key):
    return [found for record in records if (found := value(record, key)) is not None]


class Scale:
    """From values to heights, the same for all repeats."""

    def __init__(self, found, logarithmic, top):
        self.top, self.logarithmic = top, logarithmic
        most = max(found, default=1) or 1
        if logarithmic:
            least = max(min(found, default=1), 0.1)
            self.low = 10 ** math.floor(math.log10(least))
            self.high = max(10 ** math.ceil(math.log10(most)), self.low * 10)
        else:
            self.low, self.high = 0, most * 1.05

    def y(self, number):
        if self.logarithmic:
            share = math.log(max(number, self.low) / self.low) / math.log(self.high / self.low)
        else:
            share = number / self.high
        return self.top + PANEL * (1 - share)

    def marks(self):
        if self.logarithmic:
            decades = round(math.log10(self.high / self.low))
            return [self.low * 10 ** exponent for exponent in range(decades + 1)]
        raw = self.high / 4
        power = 10 ** math.floor(math.log10(raw))
        step = next(step * power for step in (1, 2, 5, 10) if step * power >= raw)
        return [step * number for number in range(int(self.high / step) + 1)]


def panel(plan, records, key, title, scale):
    length = max(plan["seconds"], 1)

    def x(second):
        return LEFT + (WIDTH - LEFT - RIGHT) * second / length

    parts = [f'<text x="{LEFT}" y="{scale.top - 7}">{escape(title)}</text>']
    period = plan["high_seconds"] + plan["low_seconds"]
    for begin in range(0, length, period):
        end = min(begin + plan["high_seconds"], length)
        parts.append(f'<rect x="{x(begin):.1f}" y="{scale.top}" width="{x(end) - x(begin):.1f}" '
                     f'height="{PANEL}" fill="#f1f1f1"/>')
    for mark in scale.marks():
        y = scale.y(mark)
        parts.append(f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>'
                     f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{mark:g}</text>')
    for begin in range(0, length + 1, period):
        parts.append(f'<text x="{x(begin):.1f}" y="{scale.top + PANEL + 14}" text-anchor="middle" '
                     f'fill="#666">{begin} s</text>')
    for arm, colour in COLOURS.items():
        points = [f"{x(record['at'] + 0.5):.1f},{scale.y(value(record, key)):.1f}"
                  for record in records
                  if record["arm"] == arm and value(record, key) is not None]
        if points:
            parts.append(f'<polyline fill="none" stroke="{colour}" stroke-width="1.3" '
                         f'points="{" ".join(points)}"/>')
    return parts
