"""The paper's settings in this machine's size: pure functions from the table."""

import hashlib
import json
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path

from failure import Failure

EXPERIMENTS = Path(__file__).resolve().parent.parent / "experiments/dremel"
TABLE = EXPERIMENTS / "settings.toml"
# What may be tried of Lissom's settings.
SPACE = EXPERIMENTS / "lissom.toml"
GROUPS = ("initial", "preloaded", "hardware", "production")


@dataclass(frozen=True)
class Setting:
    """A workload and a bandwidth, scaled."""

    name: str
    group: str
    get: float
    scan: float
    skew: float
    bandwidth: int
    preloaded: bool
    key_size: int
    value_size: int
    entries: int
    initial_share: float
    scan_length: int
    # Seconds of a trial's set-up, as it is reckoned with.
    setup: float

    @property
    def entry_bytes(self):
        return self.key_size + self.value_size

    @property
    def puts(self):
        return 100 - self.get - self.scan

    def workload(self):
        """The workload as `lissom trial` reads it."""
        share = 1.0 if self.preloaded else self.initial_share
        mix = {"get_present": self.get, "update": self.puts, "scan": self.scan}
        weights = ", ".join(f"{kind} = {weight:g}" for kind, weight in mix.items() if weight)
        return (f'name = "{self.name}"\n'
                f'about = "Dremel: {self.get:g} % reads, Zipf {self.skew:g}, '
                f'{"preloaded" if self.preloaded else "from an all but empty store"}."\n'
                f"entries = {self.entries}\nkey_size = {self.key_size}\n"
                f"value_size = {self.value_size}\n\n"
                f"[fill]\nrandom_phase = 0\nshare = {share:g}\n\n"
                f'[[session]]\nname = "all"\noperations_per_entry = 1.0\n'
                f"keys = {{ zipf = {{ theta = {self.skew:g} }} }}\n"
                f"scan_length = {self.scan_length}\nmix = {{ {weights} }}\n")


@dataclass(frozen=True)
class Sizes:
    """What all settings share, scaled."""

    memory: int
    threads: int
    evaluation: float
    # Seconds of a method besides its set-ups, and the number of these.
    budget: float
    setups: float


def load(path=TABLE):
    """(sizes, settings by name), in the table's order."""
    table = read(path)
    scale, paper, here = table["scale"], table["paper"], table["here"]
    sizes = Sizes(
        memory=int(paper["memory"] / (scale["bandwidth"] * scale["time"])),
        threads=here["threads"],
        evaluation=paper["evaluation_seconds"] / scale["time"],
        budget=paper["budget_seconds"] / scale["time"], setups=here["setups"])
    settings = [scaled(it, scale, paper, here) for it in table["setting"]]
    return sizes, {it.name: it for it in settings}


def read(path):
    return tomllib.loads(Path(path).read_text())


def chosen(path=TABLE):
    """Names of settings that stand for several, in the order in which they are run."""
    parts = read(path)["chosen"]
    return {"first": parts["first"], "chosen": parts["first"] + parts["then"]}


def place(name, path=TABLE):
    """The place of a setting among those that were chosen, or behind them."""
    parts = read(path)
    order = [*chosen(path)["chosen"], *(it["name"] for it in parts["setting"])]
    return order.index(name)


def fingerprint(path=TABLE, space=SPACE):
    """Equal for tables that measure the same."""
    table, space = read(path), read(space)
    table.pop("chosen")
    for row in table["setting"]:
        row.pop("why", None)
    for row in (row for rows in space.values() if isinstance(rows, list) for row in rows):
        # Nor how a store that runs may take a change: each trial opens one anew.
        for telling in ("about", "source", "change"):
            row.pop(telling, None)
    return hashlib.sha256(json.dumps([table, space], sort_keys=True).encode()).hexdigest()[:12]


def with_times(sizes, evaluation, budget, scale):
    """The same with other times; None leaves one as it is. The scale is of what a method has,
    and of the number of its set-ups, not of an evaluation: in a shorter one no tree fills,
    whatever the method."""
    wanted = (budget or sizes.budget) * scale
    times = replace(sizes, evaluation=evaluation or sizes.evaluation, budget=wanted,
                    setups=sizes.setups * wanted / sizes.budget)
    if times.budget < 4 * times.evaluation:
        raise Failure(f"a budget of {times.budget:g} s holds hardly a few evaluations of "
                      f"{times.evaluation:g} s: give more by --budget or --scale, or less by "
                      "--evaluation")
    return times


def scaled(row, scale, paper, here):
    value_size = row.get("value_size", paper["value_size"])
    bandwidth = row.get("bandwidth", paper["bandwidth"]) / scale["bandwidth"]
    preloaded = row.get("preloaded", False)
    return Setting(
        name=row["name"], group=row["group"], get=row["get"], scan=row.get("scan", 0),
        skew=row["skew"], bandwidth=int(bandwidth), preloaded=preloaded,
        key_size=here["key_size"], value_size=value_size,
        # Whole thousands.
        entries=round(here["data_bytes"] / (here["key_size"] + value_size) / 1000) * 1000,
        initial_share=here["initial_share"], scan_length=here["scan_length"],
        setup=here["setup_seconds"])


def select(settings, names):
    """Those that are named; `first`, `chosen` and `all` stand for several."""
    several = {**chosen(), "all": list(settings)}
    found = [it for name in names for it in several.get(name, [name])]
    for name in found:
        if name not in settings:
            raise Failure(f"there is no setting {name}: choose {', '.join(several)}, or of "
                          f"{', '.join(settings)}")
    return [settings[name] for name in dict.fromkeys(found)]
