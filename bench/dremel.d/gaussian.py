"""Bayesian optimisation by Gaussian processes, from BoTorch: which candidate has the
largest expected improvement."""

import torch
from botorch.acquisition.analytic import _log_ei_helper
from botorch.fit import fit_gpytorch_mll
from botorch.models import MultiTaskGP, SingleTaskGP
from gpytorch.mlls import ExactMarginalLogLikelihood

import encode
import tasks

torch.set_default_dtype(torch.float64)
# For matrices of some hundred rows threads wait for each other longer than they work.
torch.set_num_threads(1)
# Steps of a fit, which is in the time of who proposes: more of them go on for minutes over some
# data, and gain little.
STEPS = 200


def single(parameters, own, _others, candidates, seed):
    """One process over the setting's own trials."""
    torch.manual_seed(seed)
    points = matrix(parameters, [it["configuration"] for it in own])
    goals = torch.tensor(tasks.goals(own)).unsqueeze(-1)
    model = fitted(SingleTaskGP(points, goals))
    return choose(model, goals.max(), parameters, candidates)


def multi(parameters, own, others, candidates, seed):
    """One process over all tasks, which finds out how alike they are."""
    torch.manual_seed(seed)
    known = tasks.rows(own, others)
    points = matrix(parameters, [trial["configuration"] for _, trial, _ in known])
    numbers = torch.tensor([[float(task)] for task, _, _ in known])
    goals = torch.tensor([[goal] for _, _, goal in known])
    if numbers.max() == 0:
        return single(parameters, own, others, candidates, seed)
    model = fitted(MultiTaskGP(torch.cat([points, numbers], dim=-1), goals, task_feature=-1,
                               output_tasks=[0]))
    return choose(model, goals[numbers == 0].max(), parameters, candidates)


def matrix(parameters, configurations):
    return torch.tensor(encode.vectors(parameters, configurations))


def fitted(model):
    fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model),
                     optimizer_kwargs={"options": {"maxiter": STEPS}})
    return model


def choose(model, best, parameters, candidates):
    """As LogExpectedImprovement, for all candidates at once: it would ask for each in a batch of
    its own, and the data would be looked at again for each."""
    with torch.no_grad():
        posterior = model.posterior(matrix(parameters, candidates))
        deviation = posterior.variance.clamp_min(1e-12).sqrt().squeeze(-1)
        scaled = (posterior.mean.squeeze(-1) - best) / deviation
        return int((_log_ei_helper(scaled) + deviation.log()).argmax())
