"""An observer that sends Ctrl-C to its own process at a given moment of a fit."""

import signal


class StopAt:
    """Sends a signal to this process when something happens in a fit.

    The moment is a name, or the number of the thing that happens, counting from 0.
    """

    def __init__(self, moment=None, by=signal.SIGINT):
        self.moment, self.by = moment, by
        self.seen = []

    def begin(self, stage, steps):
        self._happens(stage)

    def end(self, stage):
        self._happens(f"end of {stage}")

    def iteration(self, record):
        self._happens(f"iteration {record['iteration']}")
        return False

    def _happens(self, what):
        self.seen.append(what)
        if self.moment in (len(self.seen) - 1, what):
            signal.raise_signal(self.by)
