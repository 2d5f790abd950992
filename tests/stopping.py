"""An observer that sends Ctrl-C to its own process at a given moment of a fit."""

import signal


class StopAt:
    """Record the events of a fit, and send a signal to this process at one of them.

    The moment is the name of an event, or its number, counting from 0.
    """

    def __init__(self, moment=None, by=signal.SIGINT):
        self.moment, self.by = moment, by
        self.events = []

    def begin(self, stage, steps):
        self._record(stage)

    def end(self, stage):
        self._record(f"end of {stage}")

    def iteration(self, record):
        self._record(f"iteration {record['iteration']}")
        return False

    def _record(self, event):
        self.events.append(event)
        if self.moment in (len(self.events) - 1, event):
            signal.raise_signal(self.by)
