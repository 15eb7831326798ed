"""What is measured: a program for trials, the space, and its constants."""

import shlex
from dataclasses import dataclass, field, replace
from pathlib import Path

# Levels of a fixed size, as RocksDB 6.15 had them; of the later default the space's sizes
# of levels would mean something else.
BASE = ('[DBOptions]\n[CFOptions "default"]\n  level_compaction_dynamic_level_bytes=false\n')
ROOT = Path(__file__).resolve().parent.parent.parent


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
    files: dict = field(default_factory=dict)

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
    """Milliseconds of a sample: of short evaluations a fifth must hold some, too."""
    return f"{max(50, min(most, int(1000 * evaluation / 60)))}ms"


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
             "--window", window(sizes.evaluation, 500)]
    constants = {"memory": sizes.memory, "entries": setting.entries,
                 "entry_bytes": setting.entry_bytes}
    return Subject(setting.name, words, "dremel", "rocksdb", constants,
                   # The harness, the allocator and merges besides the space's memory.
                   sizes.memory + (320 << 20), sizes.evaluation, sizes.budget,
                   {workload: setting.workload(), base: BASE})


def of_lissom(sizes, place, program):
    """Lissom's own settings, under a workload of five sessions that take turns."""
    memory, entries = 256 << 20, 400_000
    words = [str(program), "trial", "--workload", "five-sessions", "--entries", str(entries),
             "--system", "lissom", "--options", "{options}", "--directory", "{directory}",
             "--prepared", str(place / "sets"), "--memory", str(memory),
             "--seconds", "{seconds}", "--window", window(4 * sizes.evaluation, 1000)]
    constants = {"memory": memory, "entries": entries, "entry_bytes": 1024}
    return Subject("lissom-settings", words, "lissom", "json", constants,
                   # As above. Some 32 trials wait with their memory, and with much more they
                   # would have to begin anew instead.
                   memory + (320 << 20), 4 * sizes.evaluation, 4 * sizes.budget)


def of_db_bench(sizes, place, _program):
    """Debian's db_bench, RocksDB 7.8, by the example of a trial around it."""
    entries, entry_bytes = 400_000, 16 + 1024
    words = ["python3", str(ROOT / "examples/db_bench_trial.py"), "--flags", "{options}",
             "--directory", "{directory}", "--entries", str(entries), "--threads", "2", "--",
             "--key_size=16", "--value_size=1024", "--compression_type=none",
             "--use_direct_reads=true", "--use_direct_io_for_flush_and_compaction=true"]
    constants = {"memory": sizes.memory, "entries": entries, "entry_bytes": entry_bytes}
    return Subject("debian-db-bench", words, "dremel", "flags", constants,
                   sizes.memory + (448 << 20), sizes.evaluation, 2 * sizes.budget)


def rocksdb_defaults(divisor):
    """RocksDB 11.12's own defaults, sizes divided; 1 leaves them as they are."""
    mebibytes = {"write_buffer_size": 64, "max_bytes_for_level_base": 256,
                 "target_file_size_base": 64}
    sizes = "".join(f"  {name}={int(size * 2**20 / divisor)}\n"
                    for name, size in mebibytes.items())
    return ('[DBOptions]\n[CFOptions "default"]\n' + sizes
            + "  level_compaction_dynamic_level_bytes=true\n"
            + '[TableOptions/BlockBasedTable "default"]\n'
            + f"  block_cache={int(32 * 2**20 / divisor)}\n")
