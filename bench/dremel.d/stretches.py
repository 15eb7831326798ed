"""How steps fall into slots: what is done at a stretch, and what fits into none."""

from studies import RIVALS, once, searched

# Seconds in which it is seen that the data set is there, before a search's own time begins.
PREPARING = 15.0
# What a search may take behind its budget, to end its trials.
ENDING = 15.0


def stretch(step, subject):
    """Seconds of a step that are taken at a stretch. A rival ends between two trials, and so
    do all trials in full; `lissom search` cannot, for its trials wait for each other."""
    if step.kind == "hunt":
        return PREPARING + (once(subject) if step.name in RIVALS else step.seconds + ENDING)
    return once(subject) if step.kind == "full" else step.seconds


def stretches(left, known):
    """The stretch of each step: of the first run of a round that of the round, of the others
    none."""
    rounds = seconds_of_rounds(left)
    for step in left:
        yield (rounds.pop(round_of(step), 0.0) if round_of(step)
               else stretch(step, known[step.subject]))


def held_up(left, known, seconds):
    """(steps that take more at a stretch than a slot of so many seconds has, steps that wait
    for those). A round waits as a whole."""
    rounds = seconds_of_rounds(left)
    long = [it for it in left
            if rounds.get(round_of(it), stretch(it, known[it.subject])) > seconds]
    searches = {(it.subject, it.name) for it in long if it.kind == "hunt"}
    waits = {it for it in left
             if it.kind != "hunt" and (it.subject, searched(it)) in searches}
    rounds = {round_of(it) for it in waits} - {None}
    waiting = [it for it in left if it in waits or round_of(it) in rounds]
    return long, [it for it in waiting if it not in long]


def slots(left, known, seconds):
    """How steps that are left, given in their order, fall into slots of so many seconds: lists
    of (step, seconds) of each. An estimate."""
    found, room = [[]], seconds
    for step, needed in zip(left, stretches(left, known)):
        rest = step.seconds
        while rest > 0:
            if needed > room and found[-1]:
                found.append([])
                room = seconds
            splits = 0 < needed < rest
            took = min(rest, max(needed, room)) if splits else rest
            found[-1].append((step, took))
            rest, room = rest - took, room - took
    return [it for it in found if it]


def round_of(step):
    """The round of a run that takes turns with others; None of another step."""
    in_turn = step.kind in ("final", "early")
    return (step.study, step.subject, step.number) if in_turn else None


def same_round(one, other):
    """Whether both are runs of one round."""
    return round_of(one) is not None and round_of(one) == round_of(other)


def seconds_of_rounds(left):
    """Seconds that each round takes, or has left."""
    rounds = {}
    for step in left:
        if round_of(step):
            rounds[round_of(step)] = rounds.get(round_of(step), 0.0) + step.seconds
    return rounds
