"""Bayesian optimisation by tree-structured Parzen estimators, from Optuna. It knows no
rules: what breaks one is asked for again."""

import optuna
from optuna.distributions import CategoricalDistribution, IntDistribution
from optuna.samplers import TPESampler
from optuna.trial import create_trial

import encode
import tasks

ATTEMPTS = 2000

optuna.logging.set_verbosity(optuna.logging.WARNING)


class Parzen:
    """Asks Optuna, whose study is made anew of what is known."""

    def __init__(self, space, seed, drawn):
        self.space, self.seed, self.drawn = space, seed, drawn
        self.free = [it for it in space.parameters if encode.count(it) > 1]
        self.distributions = {it["name"]: distribution(it) for it in self.free}

    def propose(self, own, others):
        if len(own) < 5:
            return self.drawn.propose(own, others)
        sampler = TPESampler(seed=self.seed * 10_000 + len(own), multivariate=True,
                             n_startup_trials=0)
        study = optuna.create_study(direction="maximize", sampler=sampler)
        for trial, goal in zip(own, tasks.goals(own)):
            study.add_trial(create_trial(params=self.places(trial["configuration"]),
                                         distributions=self.distributions, value=goal))
        for _ in range(ATTEMPTS):
            asked = study.ask(self.distributions)
            configuration = self.configuration(asked.params)
            if self.space.allows(configuration):
                return configuration
            study.tell(asked, state=optuna.trial.TrialState.FAIL)
        return self.drawn.propose(own, others)

    def places(self, configuration):
        return {it["name"]: encode.place(it, configuration[it["name"]]) for it in self.free}

    def configuration(self, places):
        chosen = {it["name"]: encode.at(it, places[it["name"]]) for it in self.free}
        return {**self.space.default, **chosen}


def distribution(parameter):
    many = encode.count(parameter)
    if encode.choices(parameter) is not None:
        return CategoricalDistribution(list(range(many)))
    return IntDistribution(0, many - 1)
