"""What is shown whatever is asked for, and what is kept in the repository."""

import contextlib
import importlib.machinery
import importlib.util
import io
import json
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import testing
from testing import all_records, final, reading
import held
import publish
import records
import settings
import studies
import tables
from failure import Failure

SETTINGS = list(settings.load()[1])


def names(found):
    return [(it.name, it.subject) for it in found]


class Recorded(unittest.TestCase):
    def recorded(self, *more):
        return names(held.recorded([{"type": "plan"}, *more], SETTINGS))

    def test_nothing_is_of_nothing(self):
        self.assertEqual(self.recorded({"type": "program", "sha256": "x"}), [])

    def test_a_search_that_serves_several_studies_is_shown_once(self):
        search = {"type": "trial", "subject": studies.LATENCY, "method": "dremel"}
        self.assertEqual(self.recorded(search), [("main", studies.LATENCY)])
        turn = {**final("guide", 0, 1), "subject": studies.LATENCY, "study": "both"}
        self.assertEqual(self.recorded(search, turn), [("both", studies.LATENCY)])
        rival = {**search, "method": "random"}
        self.assertEqual(self.recorded(search, turn, rival),
                         [("main", studies.LATENCY), ("both", studies.LATENCY)])

    def test_each_kind_of_record_shows_its_study(self):
        self.assertEqual(self.recorded({"type": "full", "subject": studies.HALVED}),
                         [("halving", studies.HALVED)])
        failed = {"type": "failed", "subject": studies.ABLATED, "method": "dremel-3-buckets"}
        self.assertEqual(self.recorded(failed), [("buckets", studies.ABLATED)])
        sessions = {"type": "sessions", "study": "lissom", "subject": "lissom-settings"}
        self.assertEqual(self.recorded(sessions), [("lissom", "lissom-settings")])

    def test_all_of_tpe_is_shown_where_it_searched(self):
        (study,) = held.recorded([{"type": "trial", "subject": "ycsb-a", "method": "tpe"}],
                                 SETTINGS)
        self.assertEqual(study.methods, (*studies.METHODS, "tpe"))


class Paths(unittest.TestCase):
    def test_of_paths_the_last_name_is_left(self):
        for text, left in (("cannot open /data/run 1: no", "cannot open run 1: no"),
                           ("see /home/me/.cache/x.jsonl, line 3", "see x.jsonl, line 3"),
                           ("in '/d/e/' and (~/.cache/y)", "in 'e/' and (y)"),
                           ("100 operations/s, 3 / 4, I/O, ../x", "100 operations/s, 3 / 4, I/O, ../x")):
            self.assertEqual(publish.without_paths({"a": [text, 1.5, None]}),
                             {"a": [left, 1.5, None]})


class Publish(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.place = Path(directory.name)
        known = {it: testing.subject(it) for it in SETTINGS}
        where = {"subject": "ycsb-a"}
        self.held = [*all_records(),
                     *({"type": "full", **where, "number": number, "configuration": {},
                        "series": [[second, 100 * number + second] for second in range(1, 31)],
                        "metrics": {"throughput": 100.0 * number, "sessions": 1}}
                       for number in range(1, 5)),
                     {"type": "trial", **where, "method": "dremel", "number": 9,
                      "configuration": {"a": 1}, "readings": [reading(5, 6, 10)],
                      "series": [[1, 2]], "failure": f"no file {self.place}/trial-9/db"}]
        self.wanted = [studies.main("ycsb-a"), studies.halving("ycsb-a")]
        self.known = known

    def publish(self):
        return publish.publish(self.held, self.wanted, self.known, self.place)

    def test_tables_and_pictures_are_those_of_the_slim_records(self):
        written = self.publish()
        kept = records.read(self.place / "dremel.jsonl")
        table = (self.place / "dremel.report/table.txt").read_text()
        self.assertEqual(table, tables.render(kept, self.wanted))
        self.assertEqual(table, tables.render(self.held, self.wanted), "nothing is lost")
        self.assertEqual(sorted(it.name for it in written if it.suffix == ".svg"),
                         ["halving-ycsb-a-trials-in-full.svg", "main-ycsb-a-searches.svg",
                          "main-ycsb-a-trials.svg"])
        for path in written:
            self.assertNotIn(str(self.place), path.read_text())
        self.assertEqual([it["failure"] for it in kept if "failure" in it], ["no file db"])

    def test_samples_are_kept_only_of_trials_in_full(self):
        self.publish()
        kept = records.read(self.place / "dremel.jsonl")
        self.assertEqual(len(kept), len(self.held))
        self.assertEqual({it["type"] for it in kept if "series" in it}, {"full"})
        self.assertFalse(any("sessions" in it.get("metrics", {}) for it in kept))
        self.assertTrue(any("series" in it for it in self.held if it["type"] == "trial"))

    def test_pictures_of_before_are_replaced(self):
        self.publish()
        old = self.place / "dremel.report/main-gone-searches.svg"
        old.write_text("<svg/>")
        self.publish()
        self.assertFalse(old.exists())

    def test_what_was_published_without_samples_keeps_its_pictures(self):
        self.publish()
        kept = self.place / "dremel.report/main-ycsb-a-trials.svg"
        drawn = kept.read_text()
        self.held = records.read(self.place / "dremel.jsonl")
        written = self.publish()
        self.assertEqual(kept.read_text(), drawn)
        self.assertNotIn(kept, written)
        self.assertIn(kept.with_name("main-ycsb-a-searches.svg"), written)

    def test_nothing_is_published_of_nothing(self):
        with self.assertRaisesRegex(Failure, "nothing was measured"):
            publish.publish(self.held[:2], [], self.known, self.place)
        self.assertEqual(list(self.place.iterdir()), [])


class Command(unittest.TestCase):
    """`bench/dremel report` and `publish` over a file of records."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.out = Path(directory.name)
        buckets = {**final("guide", 0, 1), "study": "buckets", "subject": studies.ABLATED}
        plan = {"type": "plan", "evaluation": 15.0, "budget": 312.5, "setups": 16, "rounds": 3,
                "seed": 1, "planned": {"evaluation": 30.0, "budget": 625.0}}
        held = [plan, *all_records()[1:], buckets]
        (self.out / "results.jsonl").write_text("".join(json.dumps(it) + "\n" for it in held))

    def run_command(self, *words):
        path = testing.HERE.with_name("dremel")
        loader = importlib.machinery.SourceFileLoader("dremel_command", str(path))
        command = importlib.util.module_from_spec(
            importlib.util.spec_from_loader(loader.name, loader))
        loader.exec_module(command)
        words = [str(path), *words, "--out", str(self.out)]
        said = io.StringIO()
        with mock.patch("sys.argv", words), contextlib.redirect_stdout(said), \
                mock.patch.object(command.install, "begin_anew_in_it"), \
                mock.patch.object(command, "listen"):
            self.assertEqual(command.main(), 0)
        return said.getvalue()

    def test_everything_that_was_measured_is_shown_whatever_is_asked_for(self):
        text = self.run_command("report", "--studies", "lissom")
        page = (self.out / "dremel.html").read_text()
        for shown in ("main: ycsb-a", "buckets: double-get30", "A SHORTER RUN",
                      "Not measured at all: lissom lissom-settings."):
            self.assertIn(shown, text)
            self.assertIn(shown, page)
        # The axis is that of the run, whatever times are given: 312.5 s and 16 set-ups of 3 s.
        self.assertIn(">300 s</text>", page)
        self.assertNotIn(">600 s</text>", page)

    def test_the_plan_tells_what_was_begun_elsewhere(self):
        with (self.out / "results.jsonl").open("a") as file:
            file.write(json.dumps({"type": "trial", "subject": "ycsb-b", "method": "random",
                                   "number": 1, "at": 9.0, "boot": "x"}) + "\n")
        told = self.run_command("plan", "--settings", "ycsb-a", "ycsb-b").splitlines()
        (line,) = (number for number, it in enumerate(told) if "--other-machine" in it)
        self.assertIn("main         ycsb-b", told[line - 1])

    def test_it_is_published(self):
        place = self.out / "kept"
        text = self.run_command("publish", "--into", str(place))
        self.assertIn(f"{place}/dremel.jsonl\n", text)
        self.assertIn("buckets: double-get30",
                      (place / "dremel.report/table.txt").read_text())


if __name__ == "__main__":
    unittest.main()
