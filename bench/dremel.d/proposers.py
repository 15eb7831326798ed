"""Who says what to try next. A proposer is a function of what is known, so that a hunt
goes on after an interruption."""

import random

import encode
from failure import Failure

# Random configurations before a model is asked, the default among them.
FIRST = 5
# Candidates that a model compares: drawn ones, and neighbours of the best ones.
DRAWN, NEAR, BEST = 2048, 256, 3
# Draws that are made at once.
POOL = 1024


class Random:
    """Configurations drawn from all that the rules allow, the default first."""

    def __init__(self, space, seed):
        self.space, self.seed, self.pool = space, seed, None

    def propose(self, own, _others):
        if not own and self.space.allows(self.space.default):
            return self.space.default
        if self.pool is None:
            self.pool = self.space.sample(POOL, self.seed)
        tried = [it["configuration"] for it in own]
        fresh = [it for it in self.pool if it not in tried]
        return fresh[0] if fresh else self.pool[len(own) % len(self.pool)]


class Modelled:
    """The candidate that a model holds for the best to try."""

    def __init__(self, space, seed, choose):
        self.space, self.seed, self.choose = space, seed, choose
        self.random = Random(space, seed)

    def propose(self, own, others):
        if len(own) < FIRST:
            return self.random.propose(own, others)
        candidates = self.candidates(own)
        return candidates[self.choose(self.space.parameters, own, others, candidates, self.seed)]

    def candidates(self, own):
        # Another pool at each step, and the same one after an interruption.
        seed = self.seed * 10_000 + len(own)
        found = self.space.sample(DRAWN, seed)
        draw = random.Random(seed)
        measured = [it for it in own if "metrics" in it]
        best = sorted(measured, key=lambda it: -it["metrics"]["throughput"])[:BEST]
        for trial in best:
            near = encode.neighbours(self.space.parameters, trial["configuration"], draw,
                                     NEAR // BEST)
            found += [it for it in near if self.space.allows(it)]
        tried = [it["configuration"] for it in own]
        return [it for it in found if it not in tried] or found


def proposer(method, space, seed):
    """The proposer of this name. The libraries are loaded only if they are wanted."""
    if method == "random":
        return Random(space, seed)
    try:
        if method == "single-task":
            import gaussian
            return Modelled(space, seed, gaussian.single)
        if method == "multi-task":
            import gaussian
            return Modelled(space, seed, gaussian.multi)
        if method == "tpe":
            import parzen
            return parzen.Parzen(space, seed, Random(space, seed))
    except ImportError as error:
        raise Failure(f"the method {method} needs a library ({error}): run bench/dremel install, "
                      "or leave the method out by --methods") from None
    raise Failure(f"there is no method {method}: choose dremel, random, single-task, multi-task "
                  "or tpe")
