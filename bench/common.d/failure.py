"""The errors that are shown as sentences."""


class Failure(Exception):
    """What is wrong, where, and what to do about it."""


class MethodFailure(Failure):
    """What is wrong with one of several methods, while the others can go on."""
