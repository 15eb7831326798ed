"""What is measured: a program for trials, the space, and its constants."""

import math
import shlex
import zlib
from dataclasses import dataclass, field, replace
from pathlib import Path

from settings import SPACE

# Levels of a fixed size, as RocksDB 6.15 had them; of the later default the space's sizes
# of levels would mean something else. And no compression, as in every measurement: RocksDB's
# default, LZ4, would halve what flows, by which the settings are scaled.
BASE = ('[DBOptions]\n[CFOptions "default"]\n  level_compaction_dynamic_level_bytes=false\n'
        "  compression=kNoCompression\n")
ROOT = Path(__file__).resolve().parent.parent.parent
# Milliseconds between two refills of the rate limiter that a trial makes, and how many of them
# a window has at least: of fewer it would show their beat, and no trial would ever settle.
REFILL, LEAST_REFILLS = 100, 5


@dataclass
class Subject:
    """How trials of one kind are run."""

    name: str
    words: list
    space: str
    form: str
    constants: dict
    memory: int
    evaluation: float
    budget: float
    # Seconds of a trial's set-up, as it is reckoned with.
    setup: float
    files: dict = field(default_factory=dict)
    # Further arguments of `lissom search`.
    more: tuple = ()

    def seed(self, asked):
        """The subject's own, of the campaign's. With one for all the same configurations would be
        drawn in every setting, and one lucky draw would count as often. Below what rivals can
        multiply into one of 32 bits."""
        return 1 + zlib.crc32(f"{asked} {self.name}".encode()) % 100_000

    def command(self):
        """For `lissom search --command`."""
        return shlex.join(self.words)

    def write(self):
        """Writes the files that the command names."""
        for path, text in self.files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.exists() or path.read_text() != text:
                path.write_text(text)


def window(evaluation, most):
    """Length of a sample: whole refills, some 60 samples in an evaluation."""
    refills = min(most, int(1000 * evaluation / 60)) // REFILL
    return f"{REFILL * max(LEAST_REFILLS, refills)}ms"


def budget(sizes, setup, share=1.0):
    """Seconds that each method has: its own, and those of its set-ups."""
    return share * sizes.budget + sizes.setups * setup


def with_budget(subject, budget):
    """The same with another budget."""
    return replace(subject, budget=budget)


def of_setting(setting, sizes, place, program):
    """One of the 18: stock RocksDB under its workload, at its bandwidth."""
    workload = place / "workloads" / f"{setting.name}.toml"
    base = place / "workloads" / "base"
    words = [str(program), "trial", "--workload", str(workload), "--options", "{options}",
             "--directory", "{directory}", "--prepared", str(place / "sets"),
             "--base", str(base), "--threads", str(sizes.threads),
             "--rate-limit", str(setting.bandwidth), "--seconds", "{seconds}",
             "--operations-seed", "{seed}",
             "--window", window(sizes.evaluation, 500)]
    constants = {"memory": sizes.memory, "entries": setting.entries,
                 "entry_bytes": setting.entry_bytes}
    return Subject(setting.name, words, "dremel", "rocksdb", constants,
                   # The harness, the allocator and merges besides the space's memory.
                   sizes.memory + (320 << 20), sizes.evaluation,
                   budget(sizes, setting.setup), setting.setup,
                   {workload: setting.workload(), base: BASE})


def of_lissom(sizes, place, program):
    """Lissom's own settings, with the data and the memory of all comparisons of arms: three
    levels, of which a minute drains the first some nine times and the second once."""
    # Set-ups take from 12 to 25 s: many configurations write the data anew.
    memory, entries, setup = 36 << 20, 2_000_000, 18.0
    evaluation = 2 * sizes.evaluation
    words = [str(program), "trial", "--workload", "five-sessions", "--entries", str(entries),
             "--system", "lissom", "--options", "{options}", "--directory", "{directory}",
             "--prepared", str(place / "sets"), "--memory", str(memory),
             "--seconds", "{seconds}", "--operations-seed", "{seed}",
             "--window", window(evaluation, 1000)]
    constants = {"memory": memory, "entries": entries, "entry_bytes": 1024}
    return Subject("lissom-settings", words, str(SPACE), "json", constants,
                   memory + (320 << 20), evaluation, budget(sizes, setup, 2.0), setup,
                   # Directories of 2 GB and more, of which some 20 would wait.
                   more=("--restart",))


def of_db_bench(sizes, place, _program):
    """Debian's db_bench, RocksDB 7.8, by the example of a trial around it."""
    # Each trial fills a database of its own.
    entries, entry_bytes, setup = 200_000, 16 + 1024, 10.0
    words = ["python3", str(ROOT / "examples/db_bench_trial.py"), "--flags", "{options}",
             "--directory", "{directory}", "--entries", str(entries), "--threads", "2",
             "--seed", "{seed}", "--",
             "--key_size=16", "--value_size=1024", "--compression_type=none",
             "--use_direct_reads=true", "--use_direct_io_for_flush_and_compaction=true"]
    constants = {"memory": sizes.memory, "entries": entries, "entry_bytes": entry_bytes}
    return Subject("debian-db-bench", words, "dremel", "flags", constants,
                   sizes.memory + (448 << 20), sizes.evaluation, budget(sizes, setup), setup,
                   # After a pause RocksDB would slow down nobody, and db_bench cannot mend it.
                   more=("--restart",))


# MiB of RocksDB's own defaults, of 7.8 as of 11.12.
DEFAULTS = {"write_buffer_size": 64, "max_bytes_for_level_base": 256, "target_file_size_base": 64}


def db_bench_defaults(divisor):
    """The defaults of RocksDB 7.8's db_bench, sizes divided; 1 leaves them as they are. Its
    cache has 8 MiB in 64 shards, which stay as large as they are."""
    sizes = {**DEFAULTS, "cache_size": 8}
    flags = {name: int(size * 2**20 / divisor) for name, size in sizes.items()}
    flags["cache_numshardbits"] = max(0, 6 - round(math.log2(divisor)))
    return "".join(f"--{name}={value}\n" for name, value in flags.items())


def rocksdb_defaults(divisor):
    """RocksDB 11.12's own defaults, sizes divided; 1 leaves them as they are."""
    sizes = "".join(f"  {name}={int(size * 2**20 / divisor)}\n"
                    for name, size in DEFAULTS.items())
    return ('[DBOptions]\n[CFOptions "default"]\n' + sizes
            + "  level_compaction_dynamic_level_bytes=true\n"
            + '[TableOptions/BlockBasedTable "default"]\n'
            + f"  block_cache={int(32 * 2**20 / divisor)}\n")
