"""Messages and progress bars in the terminal, and handlers of signals."""

import io
import signal
import warnings

import pytest
from rich.console import Console

from pyrocco import ROCCO
from pyrocco.cli import main, terminal
from tests.stopping import StopAt


class Refresh:
    """Passes everything on to bars, and draws them after the third iteration."""

    def __init__(self, bars):
        self.bars = bars

    def begin(self, stage, steps):
        self.bars.begin(stage, steps)

    def end(self, stage):
        self.bars.end(stage)

    def iteration(self, record):
        stop = self.bars.iteration(record)
        if record["iteration"] == 3:
            self.bars.bars.refresh()
        return stop


def test_bars_show_stages_and_iterations_in_a_terminal(planted, monkeypatch):
    screen = Console(file=io.StringIO(), force_terminal=True, width=80)
    monkeypatch.setattr(terminal, "ERRORS", screen)
    with terminal.fit_bars(quiet=False) as bars:
        ROCCO(3, variant="paper").fit(planted[0], observer=Refresh(bars))
    shown = screen.file.getvalue()
    assert "representation" in shown
    assert "3/100" in shown


@pytest.mark.parametrize(("quiet", "is_terminal"), [(True, True), (False, False)])
def test_no_bars_if_quiet_or_not_in_a_terminal(quiet, is_terminal, planted, monkeypatch):
    screen = Console(file=io.StringIO(), force_terminal=is_terminal)
    monkeypatch.setattr(terminal, "ERRORS", screen)
    with terminal.fit_bars(quiet) as observer:
        assert observer is None
        ROCCO().fit(planted[0], observer=observer)
    assert screen.file.getvalue() == ""


@pytest.mark.parametrize("is_terminal", [True, False])
def test_another_observer_receives_every_event(is_terminal, planted, monkeypatch):
    screen = Console(file=io.StringIO(), force_terminal=is_terminal)
    monkeypatch.setattr(terminal, "ERRORS", screen)
    alone, beside = StopAt(), StopAt()
    ROCCO(3, variant="paper").fit(planted[0], observer=alone)
    with terminal.fit_bars(False, beside) as observer:
        ROCCO(3, variant="paper").fit(planted[0], observer=observer)
    assert beside.events == alone.events
    assert "iteration 3" in beside.events


def test_the_demo_calls_the_observer_of_the_command_line(tmp_path):
    observer = StopAt()
    assert main(["demo", "-o", str(tmp_path), "-q"], observer=observer) == 0
    assert observer.events == ["clusters", "end of clusters"]


def test_messages_are_joined_to_one_line():
    assert terminal.one_line("too\n   many  lines") == "too many lines"


def test_results_are_printed_as_they_are(capsys):
    terminal.tell("Found [2] clusters")
    assert capsys.readouterr().out == "Found [2] clusters\n"


def test_each_warning_is_printed_once(capsys):
    with terminal.warnings_as_lines() as lines:
        for _ in range(2):
            warnings.warn("not\nconverged", UserWarning, stacklevel=1)
    assert lines == ["not converged"]
    assert capsys.readouterr().err == "warning: not converged\n"


def test_a_handler_of_a_signal_is_replaced_for_a_while():
    before = signal.getsignal(signal.SIGINT)
    with terminal.signal_handled(signal.SIGINT, signal.SIG_IGN):
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before
