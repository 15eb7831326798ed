"""How harnesses end when they are told to."""

import signal


def listen():
    """Signals to end are an interruption from now on: what was started ends first."""
    # What `nohup` ignores stays ignored.
    numbers = [it for it in (signal.SIGTERM, signal.SIGHUP)
               if signal.getsignal(it) != signal.SIG_IGN]

    def end(*_):
        for number in numbers:
            signal.signal(number, signal.SIG_IGN)
        raise KeyboardInterrupt

    for number in numbers:
        signal.signal(number, end)
