"""The time that one command may take. What does not fit any more is left to the next."""

import math
import time


class OutOfTime(Exception):
    """What comes next does not fit into the slot."""


class Slot:
    """Seconds from now on; without a number there is no end."""

    def __init__(self, seconds=math.inf, clock=time.monotonic):
        self.seconds, self.clock = seconds, clock
        self.begun = clock()

    def left(self):
        return self.seconds - (self.clock() - self.begun)

    def fits(self, seconds):
        return seconds <= self.left()

    def claim(self, seconds):
        """Raises unless so many seconds are left."""
        if not self.fits(seconds):
            raise OutOfTime
