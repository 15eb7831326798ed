"""Who runs what, and what lissom is told of it: all without a process."""

import unittest
from unittest import mock

import runner
from testing import order


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

    def test_a_worker_is_free_once_what_it_was_told_to_stop_has_ended(self):
        self.start(1, 2)
        self.hear("a", "paused", 1)
        self.assertEqual(self.start(3), [[("a", "start", 3)]])
        self.hear("a", "paused", 3)
        self.assertEqual(self.take("stop", 3)[0], [("a", "stop", 3)])
        self.assertEqual(self.take("go_on", 1), ([], []), "beside one that ends")
        self.assertEqual(self.hear("a", "stopped", 3)[0], [("a", "go_on", 1)])

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
