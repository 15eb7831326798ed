"""The runner of trials on a Ray cluster, without one."""

import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import ray_runner
from testing import order


class Room(unittest.TestCase):
    def test_the_machines_have_room(self):
        def node(cpus, alive=True, **more):
            return {"Alive": alive, "Resources": {"CPU": cpus, **more}}

        nodes = [node(3.0, memory=10e9), node(2.0, memory=5e9), node(8.0, False, memory=9e9)]
        self.assertEqual(ray_runner.room(nodes, 2.0, 10**9), (2, 15))
        self.assertEqual(ray_runner.room([*nodes, node(0.0, memory=9e9)], 2.0, 10**9), (2, 15))
        self.assertEqual(ray_runner.room([node(4.0)], 0.5, 10**9), (8, None))
        self.assertEqual(ray_runner.wanted(8, None, 3), 3)
        self.assertEqual(ray_runner.wanted(8, None, None), 8)


class Sent(unittest.TestCase):
    def test_a_machine_needs_no_more_than_it_is_sent(self):
        here = Path(ray_runner.__file__).resolve().parent
        elsewhere = [it for it in sys.path if Path(it).resolve() != here]
        settings = {"search": "x", "worker": "worker-0", "memory_bytes": 1, "keep": False}
        with tempfile.TemporaryDirectory() as directory:
            with mock.patch.dict(sys.modules), mock.patch.object(sys, "path", elsewhere):
                for path in here.glob("*.py"):
                    sys.modules.pop(path.stem, None)
                parts = ray_runner.parts_as_text()
                worker = ray_runner.Worker(parts, {**settings, "directory": directory}, "here")
            stopped = [{"message": "stopped", "run": 1}]
            self.assertEqual(worker.turn([order("stop", 1)], 0.0), stopped)
            worker.close()
            self.assertEqual(list(Path(directory).iterdir()), [])


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


if __name__ == "__main__":
    unittest.main()
