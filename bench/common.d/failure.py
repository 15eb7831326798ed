"""The one error that is shown as a sentence."""


class Failure(Exception):
    """What is wrong, where, and what to do about it."""
