"""Configurations as vectors and as places on their grids: pure."""


def grid(parameter):
    """(least, most, number of settings, whether by ratio) of a number; None of others."""
    kind = parameter["kind"]
    if not isinstance(kind, dict) or "choice" in kind:
        return None
    numbers = kind.get("integer") or kind["float"]
    least, most, spacing = numbers["min"], numbers["max"], numbers["spacing"]
    if least == most:
        return least, most, 1, False
    if "log" in spacing:
        return least, most, spacing["log"], True
    return least, most, int((most - least) / spacing["linear"] + 1e-9) + 1, False


def choices(parameter):
    """The settings without an order; None of a number."""
    kind = parameter["kind"]
    if kind == "boolean":
        return [False, True]
    return kind.get("choice") if isinstance(kind, dict) else None


def count(parameter):
    """How many settings there are to choose from."""
    found = choices(parameter)
    return len(found) if found is not None else grid(parameter)[2]


def at(parameter, place):
    """The setting at a place, from 0 on."""
    found = choices(parameter)
    if found is not None:
        return found[place]
    least, most, many, by_ratio = grid(parameter)
    if by_ratio:
        number = most if place + 1 >= many else least * (most / least) ** (place / (many - 1))
    else:
        step = parameter["kind"].get("integer") or parameter["kind"]["float"]
        number = min(least + step["spacing"].get("linear", 0) * place, most)
    return round(number) if "integer" in parameter["kind"] else number


def place(parameter, setting):
    """The place that is nearest to a setting."""
    found = choices(parameter)
    if found is not None:
        return found.index(setting)
    return min(range(count(parameter)), key=lambda it: abs(at(parameter, it) - setting))


def vector(parameters, configuration):
    """Numbers from 0 to 1 for everything that can be chosen; words have one each."""
    return vectors(parameters, [configuration])[0]


def vectors(parameters, configurations):
    """The vectors of many. Thousands are compared for each proposal, in the time of who
    proposes, so places are looked up once for each setting."""
    free = [it for it in parameters if count(it) > 1]
    known = {it["name"]: {} for it in free}
    found = []
    for configuration in configurations:
        numbers = []
        for parameter in free:
            setting, seen = configuration[parameter["name"]], known[parameter["name"]]
            if setting not in seen:
                seen[setting] = coordinates(parameter, setting)
            numbers += seen[setting]
        found.append(numbers)
    return found


def coordinates(parameter, setting):
    """A setting's share of a vector."""
    found, many = choices(parameter), count(parameter)
    if found is not None and many > 2:
        return [float(setting == it) for it in found]
    return [place(parameter, setting) / (many - 1)]


def neighbours(parameters, configuration, random, wanted):
    """Copies with one or two parameters a step, or a word, away; rules are not looked at."""
    free = [it for it in parameters if count(it) > 1]
    found = []
    for _ in range(wanted):
        copy = dict(configuration)
        for parameter in random.sample(free, min(len(free), random.choice([1, 2]))):
            name, many = parameter["name"], count(parameter)
            here = place(parameter, copy[name])
            if choices(parameter) is not None:
                there = random.choice([it for it in range(many) if it != here])
            else:
                steps = [it for it in (here - 2, here - 1, here + 1, here + 2) if 0 <= it < many]
                there = random.choice(steps)
            copy[name] = at(parameter, there)
        found.append(copy)
    return found
