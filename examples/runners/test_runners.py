"""What runners do without a cluster: who runs what, and trials on this machine."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).parent))

import host
import ray_runner
import runner

GOOD = """echo '{"ready": true}'; echo words >&2
while :; do echo '{"throughput": 100}'; sleep 0.02; done"""


def order(kind, run, script="", *words):
    if kind != "start":
        return {"message": kind, "run": run}
    command = ["sh", "-c", script, "trial", "{options}", "{directory}", *words]
    return {"message": kind, "run": run, "label": "trial-1", "command": command, "options": "a=1\n"}


class Desk(unittest.TestCase):
    def setUp(self):
        self.desk = runner.Desk()
        for worker in "ab":
            self.desk.hear(worker, {"message": "joined"})

    def take(self, kind, run):
        orders, messages = self.desk.take(order(kind, run))
        return [(worker, it["message"], it["run"]) for worker, it in orders], messages

    def hear(self, worker, kind, run):
        orders, messages = self.desk.hear(worker, {"message": kind, "run": run, "why": "flood"})
        return [(who, it["message"], it["run"]) for who, it in orders], messages

    def start(self, *runs):
        return [self.take("start", run)[0] for run in runs]

    def test_starts_go_to_whoever_is_free(self):
        self.assertEqual(self.start(1, 2, 3), [[("a", "start", 1)], [("b", "start", 2)], []])
        orders, messages = self.hear("b", "paused", 2)
        self.assertEqual(orders, [("b", "start", 3)])
        self.assertEqual([it["run"] for it in messages], [2])

    def test_a_trial_goes_on_where_it_began(self):
        self.start(1, 2)
        for worker, run in (("a", 1), ("b", 2)):
            self.hear(worker, "paused", run)
        # The one with fewer trials, and of them the first.
        self.assertEqual(self.start(3), [[("a", "start", 3)]])
        self.assertEqual(self.take("go_on", 1), ([], []), "its worker is busy")
        self.assertEqual(self.start(4), [[("b", "start", 4)]])
        self.assertEqual(self.hear("b", "ended", 4)[0], [])
        self.assertEqual(self.hear("a", "stopped", 3)[0], [("a", "go_on", 1)])

    def test_what_waits_for_its_turn_can_be_stopped(self):
        self.start(1, 2, 3)
        stopped = [{"message": "stopped", "run": 3}]
        self.assertEqual(self.take("stop", 3), ([], stopped))
        self.assertEqual(self.take("stop", 9)[1], [{"message": "stopped", "run": 9}])
        self.assertEqual(self.take("stop", 1)[0], [("a", "stop", 1)])
        self.assertEqual(self.start(4), [[]], "it has not ended yet")
        self.assertEqual(self.hear("a", "stopped", 1)[0], [("a", "start", 4)])

    def test_with_a_worker_its_trials_are_lost(self):
        self.start(1, 2)
        self.hear("a", "paused", 1)
        self.start(3)
        self.take("go_on", 1)
        orders, messages = self.hear("a", "gone", None)
        self.assertEqual(orders, [])
        self.assertEqual([(it["message"], it["run"]) for it in messages], [("lost", 1), ("lost", 3)])
        self.assertEqual(self.take("stop", 1)[1], [{"message": "stopped", "run": 1}])
        self.assertEqual(self.hear("a", "line", 1), ([], []), "it is gone")
        self.assertEqual(self.start(5), [[]])
        self.assertEqual(self.hear("c", "joined", None)[0], [("c", "start", 5)])


class Host(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)

    def host(self, keep=False, search="x", memory_bytes=1 << 30):
        made = host.Host(self.directory, search, "worker-0", memory_bytes, keep, "here")
        self.addCleanup(lambda: made.root.lock.closed or made.close())
        return made

    def stray(self, mark):
        """A process that bears the mark, once everybody can see it."""
        made = subprocess.Popen(["sleep", "1000"], env={**os.environ, host.VARIABLE: mark})
        self.addCleanup(made.kill)
        end = time.monotonic() + 20
        while not host.strays(mark):
            self.assertLess(time.monotonic(), end)
        return made

    def until(self, made, kind, orders=()):
        """Everything that is said up to such a message."""
        news, end = made.turn(list(orders), 0.0), time.monotonic() + 20
        while not any(it["message"] == kind for it in news):
            self.assertLess(time.monotonic(), end, news)
            news += made.turn([], 0.05)
        return news

    def test_a_trial_runs_stands_still_and_goes_on(self):
        made = self.host()
        script = 'echo $$ > "$2/group"; cat "$1" >&2; ' + GOOD
        news = self.until(made, "weighed", [order("start", 1, script)])
        self.assertEqual(news[0], {"message": "started", "run": 1, "place": "here"})
        lines = [it["line"] for it in news if it["message"] == "line"]
        self.assertEqual(json.loads(lines[0]), {"ready": True})
        self.assertIn("a=1", [it["line"] for it in news if it["message"] == "words"])
        weights = [it["memory_bytes"] for it in news if it["message"] == "weighed"]
        self.assertGreater(weights[0], 100_000)
        times = [it["at"] for it in news if it["message"] == "line"]
        self.assertEqual(times, sorted(times))
        group = int((made.root.own / "trial-1-1" / "data" / "group").read_text())
        self.assertEqual(Path(f"/proc/{group}/oom_score_adj").read_text().strip(), "1000")
        paused = self.until(made, "paused", [order("pause", 1)])[-1]
        time.sleep(0.1)
        # What was in the pipe; nothing is written any more.
        made.turn([], 0.1)
        self.assertEqual(made.turn([], 0.1), [])
        resumed = self.until(made, "line", [order("go_on", 1)])[0]
        self.assertEqual(resumed["message"], "resumed")
        self.assertGreaterEqual(resumed["at"], paused["at"] + 0.1)
        self.until(made, "stopped", [order("stop", 1)])
        self.assertEqual(host.members(group), [])
        self.assertFalse((made.root.own / "trial-1-1").exists())
        made.close()
        self.assertEqual(list(self.directory.iterdir()), [])

    def test_endings_say_how(self):
        made = self.host()
        news = self.until(made, "ended", [order("start", 1, "echo last; exit 3")])
        self.assertEqual(news[-1]["how"], "exit status: 3")
        self.assertFalse(news[-1]["killed"])
        self.assertEqual(news[-2]["line"], "last")
        news = self.until(made, "ended", [order("start", 2, "kill -KILL $$")])
        self.assertEqual((news[-1]["how"], news[-1]["killed"]), ("signal: 9 (SIGKILL)", True))
        self.assertEqual(made.turn([order("stop", 2)], 0.0), [{"message": "stopped", "run": 2}])
        self.assertEqual(list(made.root.own.iterdir()), [])
        start = order("start", 3)
        start["command"] = ["/no/such/program", "{options}"]
        failed = made.turn([start], 0.0)[0]
        self.assertEqual(failed["message"], "failed")
        self.assertIn("cannot start '/no/such/program' on here", failed["why"])

    def test_nothing_of_a_trial_lives_on(self):
        made = self.host()
        script = "trap '' TERM; setsid sleep 1000 & sleep 1000 & echo on; wait; sleep 1000"
        self.until(made, "line", [order("start", 1, script)])
        directory = made.root.own / "trial-1-1"
        self.assertTrue(host.strays(directory))
        with mock.patch.object(host, "PATIENCE", 0.2):
            self.until(made, "stopped", [order("stop", 1)])
        self.assertEqual(host.strays(directory), [])

    def test_lines_may_come_by_a_file(self):
        made = self.host()
        script = 'echo no; echo \'{"throughput": 7}\' > "$3"; exec sleep 1000'
        news = self.until(made, "line", [order("start", 1, script, "{metrics}")])
        self.assertEqual([it["line"] for it in news if it["message"] == "line"], ['{"throughput": 7}'])

    def test_what_was_left_is_removed(self):
        left = self.directory / "lissom-left"
        (left / "worker-0" / "trial-1-1").mkdir(parents=True)
        (left / "lock").touch()
        mine = self.directory / "lissom-mine"
        mine.mkdir()
        mark = str(left / "worker-0" / "trial-1-1")
        stray = self.stray(mark)
        first = self.host(search="first")
        self.assertEqual(stray.wait(10), -signal.SIGKILL)
        self.assertFalse(left.exists())
        self.assertTrue(mine.exists(), "without a lock it is no search's")
        second = host.Host(self.directory, "first", "worker-1", 1, False, "here")
        self.assertTrue(first.root.own.exists(), "it is in use")
        first.close()
        self.assertTrue(second.root.shared.exists(), "by another worker")
        mark = str(first.root.own / "trial-1-1")
        stray = self.stray(mark)
        second.close()
        self.assertEqual(stray.wait(10), -signal.SIGKILL, "the last one looks after all")
        self.assertEqual(list(self.directory.iterdir()), [mine])

    def test_what_is_kept_stays(self):
        made = self.host(keep=True)
        self.until(made, "ended", [order("start", 1, "touch $2/data; exit 1")])
        made.close()
        self.host(search="y").close()
        kept = self.directory / "lissom-x" / "worker-0" / "trial-1-1" / "data" / "data"
        self.assertTrue(kept.exists())


class Pieces(unittest.TestCase):
    def test_places_are_filled_inside_words(self):
        values = {"{options}": "/t/{directory}/O", "{directory}": "/d"}
        words = ["p", "--o={options}", "{directory}/{x}", "{"]
        self.assertEqual(host.fill(words, values), ["p", "--o=/t/{directory}/O", "/d/{x}", "{"])

    def test_only_whole_lines_are_followed(self):
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "metrics"
            follow = host.Follow(path)
            self.assertEqual(follow.lines(), [])
            path.write_bytes(b"one\ntw")
            self.assertEqual(follow.lines(), [b"one"])
            path.write_bytes(b"one\ntwo\n")
            self.assertEqual(follow.lines(), [b"two"])
            path.write_bytes(b"anew\n")
            self.assertEqual(follow.lines(), [b"anew"])

    def test_a_process_group_is_weighed(self):
        scale = host.Scale(os.getpgrp(), 1 << 50)
        self.assertGreater(scale.weigh(0.0), 1_000_000)
        self.assertIsNone(scale.weigh(0.1), "not so often")
        self.assertIn(os.getpid(), host.members(os.getpgrp()))
        scale.limit = 0
        self.assertGreater(scale.weigh(1.0), 0)

    def test_lines_are_bounded_and_need_not_be_text(self):
        self.assertEqual(host.shown(b"a\xff\n"), "a\N{REPLACEMENT CHARACTER}")
        self.assertEqual(len(host.shown(b"x" * 100_000)), host.LONGEST_LINE)

    def test_the_machines_have_room(self):
        def node(cpus, alive=True, **more):
            return {"Alive": alive, "Resources": {"CPU": cpus, **more}}

        nodes = [node(3.0, memory=10e9), node(2.0, memory=5e9), node(8.0, False, memory=9e9)]
        self.assertEqual(ray_runner.room(nodes, 2.0, 10**9), (2, 15))
        self.assertEqual(ray_runner.room([*nodes, node(0.0, memory=9e9)], 2.0, 10**9), (2, 15))
        self.assertEqual(ray_runner.room([node(4.0)], 0.5, 10**9), (8, None))
        self.assertEqual(ray_runner.wanted(8, None, 3), 3)
        self.assertEqual(ray_runner.wanted(8, None, None), 8)


class FakeRay:
    """As much of Ray as a pool uses; actors are objects, and answers are there at once."""

    class exceptions:
        class RayError(Exception):
            pass

        class RayTaskError(RayError):
            pass

    class Question:
        def __init__(self, actor, arguments):
            self.actor, self.arguments = actor, arguments

    class Method:
        def __init__(self, actor):
            self.actor = actor

        def remote(self, *arguments):
            return FakeRay.Question(self.actor, arguments)

    class Actor:
        def __init__(self, settings):
            self.settings, self.told, self.error = settings, [], None
            self.turn, self.close = FakeRay.Method(self), FakeRay.Method(self)

    def __init__(self):
        self.actors, self.killed = [], []
        self.util = None

    def remote(self, _):
        return self

    def options(self, **options):
        self.chosen = options
        outer = self

        class Maker:
            @staticmethod
            def remote(_, settings):
                outer.actors.append(FakeRay.Actor(settings))
                return outer.actors[-1]

        return Maker

    def wait(self, questions, num_returns, timeout):
        return questions[:num_returns], questions[num_returns:]

    def get(self, question):
        actor, (orders, _) = question.actor, question.arguments
        if actor.error:
            raise actor.error
        actor.told += orders
        return [{"message": "beat"}] if orders else []

    def kill(self, actor):
        self.killed.append(actor)


class RayPool(unittest.TestCase):
    def setUp(self):
        self.ray = FakeRay()
        given = mock.Mock(cpus_per_trial=2.0, directory="/data")
        self.pool = ray_runner.RayPool(self.ray, given, {"memory_bytes": 7, "keep": False})
        self.pool.add()

    def test_workers_join_and_are_told(self):
        self.assertEqual(self.pool.receive(0), [("worker-0", {"message": "joined"})])
        self.assertEqual(self.ray.chosen["num_cpus"], 2.0)
        self.assertEqual(self.pool.receive(0), [])
        self.pool.send("worker-0", "an order")
        self.pool.send("worker-9", "lost")
        # The question that is on its way does not have it.
        news = self.pool.receive(0) + self.pool.receive(0)
        self.assertEqual(news, [("worker-0", {"message": "beat"})])
        self.assertEqual(self.ray.actors[0].told, ["an order"])

    def test_a_worker_that_is_gone_is_replaced(self):
        self.pool.receive(0)
        self.ray.actors[0].error = FakeRay.exceptions.RayError("The actor died.\nits node died")
        (worker, message), = self.pool.receive(0)
        self.assertEqual((worker, message["message"]), ("worker-0", "gone"))
        self.assertIn("its node died", message["why"])
        self.assertEqual(self.ray.killed, [self.ray.actors[0]])
        self.assertEqual(self.pool.receive(0), [("worker-1", {"message": "joined"})])

    def test_a_worker_that_cannot_work_fails(self):
        self.ray.actors[0].error = FakeRay.exceptions.RayError("no directory")
        (_, message), = self.pool.receive(0)
        self.assertEqual(message["message"], "failed")
        self.assertIn("worker-0 cannot be started", message["why"])
        self.pool.add()
        self.pool.receive(0)
        self.ray.actors[1].error = FakeRay.exceptions.RayTaskError("full disk")
        (_, message), = self.pool.receive(0)
        self.assertEqual(message["message"], "failed")


class Local(unittest.TestCase):
    """The whole runner, with lissom's end of the wire in hand."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)
        program = Path(__file__).with_name("local_runner.py")
        self.process = subprocess.Popen(
            [sys.executable, "-B", program, "--workers", "2", "--directory", directory.name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.addCleanup(self.process.stdout.close)
        self.addCleanup(self.process.kill)

    def tell(self, message):
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def hear(self, kind):
        while True:
            message = json.loads(self.process.stdout.readline())
            if message["message"] == kind:
                return message

    def hello(self, version):
        self.tell({"message": "hello", "version": version, "memory_bytes": 1 << 30, "keep": False})

    def test_trials_end_with_lissom(self):
        self.hello(runner.VERSION)
        self.assertEqual(self.hear("hello")["workers"], 2)
        for run in (1, 2):
            self.tell(order("start", run, GOOD))
            self.assertEqual(self.hear("started")["run"], run)
        self.tell(order("pause", 1))
        self.assertEqual(self.hear("paused")["run"], 1)
        self.assertTrue(host.strays(self.directory))
        self.process.stdin.close()
        self.process.stdout.read()
        self.assertEqual(self.process.wait(20), 0)
        self.assertEqual(host.strays(self.directory), [])
        self.assertEqual(list(self.directory.iterdir()), [])

    def test_another_version_is_refused(self):
        self.hello(runner.VERSION + 1)
        self.assertIn("speaks version 1", self.hear("failed")["why"])
        self.assertEqual(self.process.wait(20), 1)
        self.process.stdin.close()


class Greeting(unittest.TestCase):
    def test_what_lissom_is_told(self):
        wire, desk = mock.Mock(), runner.Desk()
        wire.orders.empty.return_value = True
        pool = mock.Mock()
        pool.receive.side_effect = [[("a", {"message": "joined"})], [("b", {"message": "joined"})]]
        self.assertTrue(runner.greet(wire, desk, pool, 60, "x", 2, lambda: 1))
        hello = wire.say.call_args[0][0]
        self.assertEqual((hello["workers"], hello["alive"], hello["pauses"]), (2, 2, True))
        pool.receive.side_effect = lambda wait: []
        self.assertIs(runner.greet(wire, runner.Desk(), pool, 0.01, "x", 1), False)

    def test_why_no_worker_can_work_is_told(self):
        wire, pool = mock.Mock(), mock.Mock()
        wire.orders.empty.return_value = True
        failed = {"message": "failed", "why": "worker-0 cannot be started: no directory"}
        pool.receive.side_effect = [[("a", failed)]]
        with mock.patch("sys.stderr"):
            self.assertIsNone(runner.greet(wire, runner.Desk(), pool, 60, "x", 1))
        wire.say.assert_called_once_with(failed)
        # With another one it goes on.
        wire.say.reset_mock()
        desk = runner.Desk()
        pool.receive.side_effect = [[("a", failed), ("b", {"message": "joined"})]]
        with mock.patch("sys.stderr"):
            self.assertTrue(runner.greet(wire, desk, pool, 60, "x", 2))
        self.assertEqual(wire.say.call_args[0][0]["workers"], 1)
        self.assertEqual(desk.hear("c", failed), ([], []))
        desk.hear("b", {"message": "gone", "why": "x"})
        self.assertEqual(desk.hear("c", failed), ([], [failed]))


if __name__ == "__main__":
    unittest.main()
