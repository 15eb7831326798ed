"""The pure parts: judgements, the search for the maximum, records, the picture."""

import json
import sys
import tempfile
import unittest
import xml.etree.ElementTree
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.with_name("common.d"))]

import judge
import machine
import picture
import records
from campaign import LADDER, MOST_LOWERED, Campaign
from failure import Failure

PLAN = {"type": "plan", "tables": 1, "table_size": 1000, "seconds": 6, "high_seconds": 2,
        "low_seconds": 1, "repeats": 3}


OWN = {"level0_file_num_compaction_trigger": "4", "max_bytes_for_level_base": "16",
       "disable_auto_compactions": "OFF", "level0_stop_writes_trigger": "36"}
DELAYED = {**OWN, "level0_file_num_compaction_trigger": "30"}
DRAINING = {**OWN, "level0_stop_writes_trigger": "90"}


def sample(**more):
    names = ["bytes_written", "wal_bytes", "flush_write_bytes", "compact_write_bytes",
             "stall_micros", "stall_l0_file_count_limit_stops", "block_cache_data_bytes_insert",
             "block_cache_index_bytes_insert", "block_cache_filter_bytes_insert"]
    return {**dict.fromkeys(names, 0), "level0_files": 0, "options": OWN, **more}


def run_of(arm, repeat, p99):
    """Two transactions in each high second but the first, which has one; one in low ones."""
    ended = [(at + share, p99) for at in range(6) for share in ((0.2, 0.7) if at % 3 < 2 else (0.5,))]
    ended.remove((0.7, p99))
    seconds = judge.by_second(ended, 6)
    samples = [sample()] + [sample(level0_files=at, options=options) for at, options
                            in enumerate([DELAYED, DELAYED, DELAYED, DRAINING, OWN])]
    samples.append(sample(level0_files=8, bytes_written=100, stall_micros=500_000,
                          stall_l0_file_count_limit_stops=3))
    settled = sample(bytes_written=100, flush_write_bytes=150, compact_write_bytes=250)
    for second, seen in zip(seconds, samples[1:]):
        due = judge.offered(PLAN, 2, 1, second["at"])
        second.update(type="second", arm=arm, repeat=repeat, offered=due, server=seen)
    figures = judge.totals(seconds, samples, settled, ended, OWN)
    return [*seconds, {"type": "run", "arm": arm, "repeat": repeat, "high": 2, "low": 1, **figures}]


class Judge(unittest.TestCase):
    def test_phases_take_turns(self):
        due = [judge.offered(PLAN, 9, 1, second) for second in range(6)]
        self.assertEqual(due, [9, 9, 1, 9, 9, 1])

    def test_quantiles_are_seen_values(self):
        self.assertEqual(judge.quantile([1, 2, 3, 4], 0.5), 2)
        self.assertEqual(judge.quantile(list(range(1, 101)), 0.99), 99)
        self.assertIsNone(judge.quantile([], 0.99))

    def test_transactions_count_where_they_end(self):
        seconds = judge.by_second([(0.1, 5.0), (1.9, 7.0), (1.2, 9.0), (3.0, 1.0)], 3)
        self.assertEqual([second["tps"] for second in seconds], [1, 2, 0])
        self.assertEqual([second["max"] for second in seconds], [5.0, 9.0, None])

    def test_a_runs_figures(self):
        figures = run_of("on", 0, 12.0)[-1]
        self.assertEqual(figures["dips"], 1 / 6)
        self.assertAlmostEqual(figures["unserved"], 1 / 10)
        self.assertEqual(figures["slowest"], 0.5)
        self.assertEqual(figures["tps_high"], 1.75)
        self.assertAlmostEqual(figures["variation"], 0.5 / 1.75)
        self.assertEqual((figures["p99"], figures["longest"]), (12.0, 12.0))
        self.assertEqual(figures["stall_seconds"], 0.5)
        self.assertEqual(figures["stalls"], {"stall_l0_file_count_limit_stops": 3})
        self.assertEqual(figures["write_amplification"], 4.0)
        self.assertEqual((figures["most_level0_files"], figures["mean_level0_files"]), (8, 3))
        self.assertEqual(figures["delayed"], 0.5)
        self.assertAlmostEqual(figures["changed"], 4 / 6)

    def test_each_way_to_delay_counts(self):
        ways = [{**OWN, "disable_auto_compactions": "ON"}, {**OWN, "max_bytes_for_level_base": "99"}]
        samples = [sample()] + [sample(options=options) for options in [*ways, OWN, OWN]]
        seconds = judge.by_second([(at + 0.5, 1.0) for at in range(4)], 4)
        for second in seconds:
            second["offered"] = 1
        figures = judge.totals(seconds, samples, sample(), [(0.5, 1.0)] * 4, OWN)
        self.assertEqual((figures["delayed"], figures["changed"]), (0.5, 0.5))

    def test_clients_move_blocks_and_the_log(self):
        after = sample(wal_bytes=30, block_cache_data_bytes_insert=50,
                       block_cache_filter_bytes_insert=20)
        self.assertEqual(judge.client_bytes(sample(), after, 10), 10.0)
        limits = judge.limits({"client_bytes": 1000.0})
        self.assertTrue(0.225 * 1000 < limits["io_low_limit"] < limits["io_high_limit"] < 900)

    def test_what_clients_move_at_high_load_leaves_low_phases_out(self):
        logged = [0, 10, 20, 21, 31, 41, 42]
        samples = [sample(wal_bytes=written) for written in logged]
        self.assertEqual(judge.client_bytes_at_high(PLAN, samples), 10.0)

    def test_seconds_under_95_percent_are_dips(self):
        seconds = [{"tps": 95, "offered": 100}] * 19 + [{"tps": 94, "offered": 100}]
        self.assertEqual(judge.dips(seconds), 0.05)

    def test_a_load_is_carried_that_is_never_a_second_behind(self):
        done = lambda *each: [{"tps": tps, "offered": 100} for tps in each]
        self.assertEqual(judge.behind(done(100, 60, 80, 160, 90)), 0.6)
        self.assertTrue(judge.is_carried(judge.behind(done(50, 50, 200))))
        self.assertFalse(judge.is_carried(judge.behind(done(50, 49, 201))))
        ahead = done(101, 100, 99)
        self.assertEqual(judge.behind(ahead), 0)
        # What is left is told by the high rate, however low the present one is.
        calm = [{"tps": 0, "offered": 25}]
        self.assertEqual(judge.behind(done(100) + calm), 0.25)

    def test_ranges_that_meet_are_a_tie(self):
        low, high, between = [1, 2, 3], [4, 5, 6], [3, 4, 5]
        self.assertEqual(judge.standing("p99", high, low), "gain")
        self.assertEqual(judge.standing("p99", low, high), "loss")
        self.assertEqual(judge.standing("tps", low, high), "gain")
        self.assertEqual(judge.standing("p99", low, between), "tie")
        self.assertEqual(judge.standing("p99", [1], [9]), "too few")
        self.assertEqual(judge.standing("delayed", low, high), "")

    def test_a_latency_of_the_unserved_is_the_least_that_it_can_be(self):
        for unserved, bounds in [(0.0, []), (0.005, ["p999", "longest"]),
                                 (0.02, ["p99", "p999", "longest"])]:
            run = {"unserved": unserved}
            found = [key for key, *_ in judge.FIGURES if judge.is_bound(run, key)]
            self.assertEqual(found, bounds)
        low, high = [1, 2, 3], [4, 5, 6]
        self.assertEqual(judge.standing("p99", high, low, on_is_bound=True), "not known")
        self.assertEqual(judge.standing("p99", high, low, off_is_bound=True), "gain")
        self.assertEqual(judge.standing("p99", low, high, off_is_bound=True), "not known")
        self.assertEqual(judge.standing("p99", low, high, on_is_bound=True), "loss")
        self.assertEqual(judge.shown([1, 2, 3], 1, 1, is_bound=True), ">= 2.0 ±1.0")


def all_records():
    found = [PLAN, {"type": "maximum", "tps": 2.2, "threads": 4, "client_bytes": 1e6}]
    for repeat in range(3):
        found += run_of("off", repeat, 20.0 + repeat) + run_of("on", repeat, 10.0 + repeat)
    before = {"level0_file_num_compaction_trigger": "4"}
    found.append({"type": "kill", "case": "agent", "by": "the watchdog", "seconds": 0.8,
                  "before": before, "delayed": {}, "after": before})
    found.append({"type": "kill", "case": "both", "by": "nobody", "seconds": 60.0, "before": before,
                  "delayed": {}, "after": {"level0_file_num_compaction_trigger": "30"}})
    return found


class Report(unittest.TestCase):
    def test_the_table_has_gains_ties_and_kills(self):
        found = all_records()
        for words in [">= 21.0 ±1.0   >= 11.0 ±1.0   not known", ">= stands where too many"]:
            self.assertIn(words, judge.render(found))
        for run in found:
            if run["type"] == "run":
                run["unserved"] = 0.0
        text = judge.render(found)
        for words in ["p99, ms", "21.0 ±1.0    11.0 ±1.0   gain", "tie", "6 runs",
                      "agent: original settings again, by the watchdog, 0.8 s after the kill",
                      "both: NOT restored: level0_file_num_compaction_trigger 30, was 4"]:
            self.assertIn(words, text)

    def test_the_search_for_the_maximum_is_told(self):
        found = [PLAN, {"type": "closed loop", "threads": 4, "tps": 120.0},
                 {"type": "trial", "lowered": 0, "tps": 120.0, "dips": 0.5, "behind": 9.5,
                  "client_bytes": 1.0},
                 {"type": "trial", "lowered": 1, "tps": 108.0, "dips": 0.0, "behind": 0.2,
                  "client_bytes": 9e6},
                 {"type": "maximum", "tps": 108.0, "client_bytes": 1e7}]
        text = judge.render(found)
        for words in ["120 with 4 threads", "120: 9.5 s, 50 %, 108: 0.2 s, 0 %",
                      "maximum 108 transactions", "10.0 MB/s"]:
            self.assertIn(words, text)

    def test_a_report_of_a_beginning(self):
        self.assertIn("maximum 2 ", judge.render(all_records()[:2]))
        xml.etree.ElementTree.fromstring(picture.draw(all_records()[:2]))

    def test_the_picture_is_whole_and_needs_nothing_else(self):
        drawing = picture.draw(all_records())
        root = xml.etree.ElementTree.fromstring(drawing)
        lines = root.findall("{http://www.w3.org/2000/svg}polyline")
        self.assertEqual(len(lines), 3 * 3 * 2)
        self.assertNotIn("nan", drawing)
        self.assertNotIn("href", drawing)

    def test_a_second_without_transactions_has_no_latency(self):
        found = all_records()
        found[2].update(tps=0, p99=None, max=None)
        xml.etree.ElementTree.fromstring(picture.draw(found))


class Search(unittest.TestCase):
    """For a load that a server carries which does 120 a second in closed loops."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.path = Path(directory.name) / "results.jsonl"

    def search(self, most):
        """Another sitting over the same file, with a server that carries `most`."""
        return Simulated(records.Results(self.path, PLAN), most)

    def test_a_maximum_is_lowered_until_the_server_carries_it(self):
        # Nine tenths of 120 are 108, of 108 they are 97.2. Four high seconds leave 120 and 77
        # behind.
        campaign = self.search(78)
        maximum = campaign.find_maximum()
        self.assertAlmostEqual(maximum["tps"], 108.0)
        # A transaction writes 1,000 bytes to the log.
        self.assertAlmostEqual(maximum["client_bytes"], 108_000.0)
        self.assertEqual((campaign.loops, campaign.trials), (len(LADDER), 2))
        behind = [it["behind"] for it in campaign.results.all(type="trial")]
        self.assertAlmostEqual(behind[0], 120 / 108)
        self.assertAlmostEqual(behind[1], 76.8 / 97.2, delta=0.01)
        self.assertEqual(campaign.results.find(type="maximum"), maximum)

    def test_an_interrupted_search_goes_on(self):
        campaign = self.search(78)
        campaign.best_closed_loop()
        campaign.try_maximum(120.0, 0)
        again = self.search(78)
        self.assertAlmostEqual(again.find_maximum()["tps"], 108.0)
        self.assertEqual((again.loops, again.trials), (0, 1))

    def test_a_server_that_carries_nothing_ends_it(self):
        campaign = self.search(10)
        for trials in (MOST_LOWERED + 1, MOST_LOWERED + 1):
            with self.assertRaisesRegex(Failure, "down to 64 transactions a second"):
                campaign.find_maximum()
            self.assertEqual(campaign.trials, trials)
        self.assertIsNone(campaign.results.find(type="maximum"))


class Idle:
    """A server that has nothing to merge."""

    def settle(self):
        pass


class Origin(unittest.TestCase):
    """What is measured elsewhere is no comparison with what was measured here."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.place = Path(directory.name)
        self.program = self.place / "lissom"
        self.program.write_bytes(b"a build")

    def note(self, **more):
        server = SimpleNamespace(version=lambda: {"server": "10.11"})
        results = records.Results(self.place / "results.jsonl", PLAN)
        Campaign(server, results, PLAN, self.program, print, **more).note_origin()
        return [it for it in results.records if it["type"] == "machine"]

    def test_it_goes_on_where_it_was_begun(self):
        self.assertEqual(len(self.note()), 1)
        self.assertEqual(len(self.note()), 1)

    def test_another_program_or_start_is_refused_unless_it_is_wanted(self):
        self.note()
        self.program.write_bytes(b"another build")
        with self.assertRaisesRegex(Failure, "with another program: give another --out"):
            self.note()
        self.assertEqual(len(self.note(elsewhere=True)), 2)
        with mock.patch.object(machine, "BOOT", self.program):
            with self.assertRaisesRegex(Failure, "--other-machine"):
                self.note()
        text = judge.render([PLAN, *self.note()])
        self.assertIn("may not compare", text)


class Simulated(Campaign):
    """Without sysbench: what is offered is done, up to `most` a second."""

    def __init__(self, results, most):
        super().__init__(Idle(), results, PLAN, None, lambda text: None)
        self.most, self.loops, self.trials = most, 0, 0

    def closed_loop(self, threads):
        self.loops += 1
        tps = 120.0 if threads == LADDER[1] else 100.0
        self.results.add({"type": "closed loop", "threads": threads, "tps": tps})

    def offer(self, seconds, high, low):
        self.trials += 1
        ended, samples, logged = [], [sample()], 0.0
        for second in range(seconds):
            due = judge.offered(PLAN, high, low, second)
            done = round(min(due, self.most))
            ended += [(second + number / done, 1.0) for number in range(done)]
            logged += 1000 * due
            samples.append(sample(wal_bytes=logged))
        return samples, ended


class Records(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.path = Path(directory.name) / "out" / "results.jsonl"

    def test_seconds_of_a_run_that_did_not_end_are_left_out(self):
        results = records.Results(self.path, {"seconds": 6})
        results.add({"type": "second", "at": 0}, {"type": "run", "arm": "on", "repeat": 0})
        with self.path.open("a") as file:
            file.write('{"type":"second","at":0}\n{"type":"sec')
        again = records.Results(self.path, {"seconds": 6})
        self.assertEqual(again.records, results.records)
        self.assertIsNone(again.find(type="run", arm="off"))
        again.add({"type": "run", "arm": "off", "repeat": 0})
        self.assertEqual(records.read(self.path), again.records)
        self.assertTrue(all(map(json.loads, self.path.read_text().splitlines())))

    def test_a_foreign_file_is_refused(self):
        self.path.parent.mkdir()
        self.path.write_text('{"type":"run"}\n')
        with self.assertRaisesRegex(Failure, "no results of bench/myrocks"):
            records.read(self.path)


if __name__ == "__main__":
    unittest.main()
