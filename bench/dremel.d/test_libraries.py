"""The proposers whose models are libraries': with the libraries, where they are, and around
them."""

import importlib
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import testing
import install
import proposers
from failure import Failure
from space import Space

# Says whether another Python has all of some libraries, without loading them.
HAS = ("import importlib.util as it, sys; "
       "sys.exit(any(it.find_spec(name) is None for name in sys.argv[1:]))")


class Libraries(unittest.TestCase):
    """Runs in the environment that `bench/dremel install` makes, where this Python lacks the
    libraries and that one has them."""

    def test_single_task(self):
        self.propose("single-task")

    def test_multi_task(self):
        self.propose("multi-task")

    def test_tpe(self):
        self.propose("tpe")

    def test_all_candidates_at_once_are_judged_as_each_alone(self):
        self.with_libraries("multi-task", self.check_choice)

    def propose(self, method):
        self.with_libraries(method, self.check)

    def with_libraries(self, method, check):
        lacking = install.missing([method])
        if not lacking:
            check(method)
        elif installed(lacking):
            self.check_there()
        else:
            testing.skip(self, f"{', '.join(lacking)} is not installed: bench/dremel install "
                               f"--methods {method}")

    def check_there(self):
        words = [str(install.python()), "-B", "-m", "unittest", "-q",
                 f"test_libraries.Libraries.{self._testMethodName}"]
        done = subprocess.run(words, cwd=testing.HERE, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def check(self, method):
        space = Space(testing.HERE / "toy.py", "toy", {}, "json")
        self.addCleanup(space.close)
        own = [{"configuration": it, "metrics": {"throughput": 100 + it["a"] + it["b"]}}
               for it in space.sample(8, 3)]
        # The same is known after an interruption.
        found, again = (proposers.proposer(method, space, 1).propose(own, {"other": own})
                        for _ in range(2))
        self.assertTrue(space.allows(found), found)
        self.assertEqual(found, again)


    def check_choice(self, _method):
        import gaussian
        import torch
        from botorch.acquisition import LogExpectedImprovement
        from botorch.models import MultiTaskGP, SingleTaskGP
        space = Space(testing.HERE / "toy.py", "toy", {}, "json")
        self.addCleanup(space.close)
        candidates = space.sample(60, 5)
        points = gaussian.matrix(space.parameters, space.sample(12, 3))
        goals = points.sin().sum(dim=-1, keepdim=True)
        tasks = torch.tensor([[float(number % 2)] for number in range(12)])
        models = (SingleTaskGP(points, goals),
                  MultiTaskGP(torch.cat([points, tasks], dim=-1), goals, task_feature=-1,
                              output_tasks=[0]))
        for model in map(gaussian.fitted, models):
            alone = LogExpectedImprovement(model, best_f=goals.max())(
                gaussian.matrix(space.parameters, candidates).unsqueeze(1))
            chosen = gaussian.choose(model, goals.max(), space.parameters, candidates)
            self.assertAlmostEqual(alone[chosen].item(), alone.max().item(), places=6)


def installed(names):
    """Whether the environment of `install` has these, and is another than this."""
    if not install.python().exists() or install.is_here():
        return False
    return subprocess.run([str(install.python()), "-c", HAS, *names]).returncode == 0


class Install(unittest.TestCase):
    """What is run, without running it."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.place = Path(directory.name) / "python"
        patch = mock.patch.dict(os.environ, LISSOM_DREMEL_PYTHON=str(self.place))
        patch.start()
        self.addCleanup(patch.stop)
        self.ran = []

    def install(self, *methods, offline=False):
        def run(words):
            self.ran.append(words)
            if offline and install.INDEX in words:
                raise Failure("no route")

        self.ran.clear()
        with mock.patch.object(install, "run", run):
            install.install(methods, lambda _: None)

    def made(self, name):
        path = self.place / "bin" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()

    def test_an_environment_without_pip_is_made_whole(self):
        for name, makes in (("python", True), ("pip", True), ("", False)):
            self.install("tpe")
            self.assertEqual(any("venv" in it for it in self.ran), makes, f"before {name}")
            if name:
                self.made(name)

    def test_pytorch_is_the_build_for_processors_where_it_can_be_had(self):
        pinned = lambda: [it for words in self.ran for it in words if it.startswith("torch==")]
        self.install("single-task")
        self.assertEqual(pinned(), ["torch==2.6.0+cpu", "torch==2.6.0"])
        self.install("single-task", offline=True)
        self.assertEqual(pinned()[-1], "torch==2.6.0", "PyPI's")
        self.install("tpe")
        self.assertEqual(pinned(), [])

    def test_what_is_installed_is_told_as_pip_freeze_does(self):
        told = install.environment()
        self.assertRegex(told["python"], r"^3\.")
        for it in told["packages"]:
            self.assertRegex(it, r"^[\w.-]+==\S+$")


NUMBER = {"integer": {"min": 0, "max": 9, "spacing": {"linear": 1}}}


class Ruled:
    """A space whose rule is a < 9."""

    parameters = [{"name": "a", "kind": NUMBER}, {"name": "word", "kind": {"choice": ["x", "y"]}},
                  {"name": "held", "kind": {"choice": ["only"]}}]
    default = {"a": 2, "word": "x", "held": "only"}

    @staticmethod
    def allows(configuration):
        return configuration["a"] < 9


class Parzen(unittest.TestCase):
    """What Optuna is told, and what becomes of its answers; it need not be there."""

    def setUp(self):
        self.optuna = mock.MagicMock()
        names = ("distributions", "samplers", "trial")
        patch = mock.patch.dict(sys.modules, {
            "optuna": self.optuna,
            **{f"optuna.{it}": getattr(self.optuna, it) for it in names}})
        patch.start()
        self.addCleanup(patch.stop)
        sys.modules.pop("parzen", None)
        self.parzen = importlib.import_module("parzen")
        self.study = self.optuna.create_study.return_value
        self.drawn = mock.Mock()
        self.own = [{"configuration": {"a": number, "word": "y", "held": "only"},
                     "metrics": {"throughput": 10.0 ** number}} for number in range(5)]

    def asks(self, *places):
        self.study.ask.side_effect = [SimpleNamespace(params=it) for it in places]

    def propose(self, own):
        return self.parzen.Parzen(Ruled, 7, self.drawn).propose(own, {})

    def test_it_is_told_places_and_asked_again_where_a_rule_is_broken(self):
        self.asks({"a": 9, "word": 0}, {"a": 8, "word": 1})
        self.assertEqual(self.propose(self.own), {"a": 8, "word": "y", "held": "only"})
        told = [it.kwargs for it in self.optuna.trial.create_trial.call_args_list]
        self.assertEqual([it["params"] for it in told],
                         [{"a": number, "word": 1} for number in range(5)], "nothing that is held")
        goals = [it["value"] for it in told]
        self.assertEqual(goals, sorted(goals), "more is better")
        self.assertEqual(self.optuna.create_study.call_args.kwargs["direction"], "maximize")
        self.study.tell.assert_called_once()
        self.assertEqual(self.study.tell.call_args.kwargs,
                         {"state": self.optuna.trial.TrialState.FAIL})
        self.drawn.propose.assert_not_called()

    def test_configurations_are_drawn_first_and_where_nothing_legal_is_found(self):
        self.assertIs(self.propose(self.own[:4]), self.drawn.propose.return_value)
        self.optuna.create_study.assert_not_called()
        self.asks(*self.parzen.ATTEMPTS * [{"a": 9, "word": 0}])
        self.assertIs(self.propose(self.own), self.drawn.propose.return_value)
        self.assertEqual(self.study.ask.call_count, self.parzen.ATTEMPTS)

    def test_each_step_has_a_seed_of_its_own(self):
        self.asks({"a": 1, "word": 0}, {"a": 1, "word": 0}, {"a": 1, "word": 0})
        for own in (self.own, self.own, [*self.own, self.own[0]]):
            self.propose(own)
        seeds = [it.kwargs["seed"] for it in self.optuna.samplers.TPESampler.call_args_list]
        self.assertEqual((seeds[0] == seeds[1], seeds[1] == seeds[2]), (True, False))


if __name__ == "__main__":
    unittest.main()
