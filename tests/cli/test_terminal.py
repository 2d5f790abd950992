"""Progress bars of a fit in the terminal."""

import io

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
def test_another_observer_is_told_everything(is_terminal, planted, monkeypatch):
    screen = Console(file=io.StringIO(), force_terminal=is_terminal)
    monkeypatch.setattr(terminal, "ERRORS", screen)
    alone, beside = StopAt(), StopAt()
    ROCCO(3, variant="paper").fit(planted[0], observer=alone)
    with terminal.fit_bars(False, beside) as observer:
        ROCCO(3, variant="paper").fit(planted[0], observer=observer)
    assert beside.seen == alone.seen
    assert "iteration 3" in beside.seen


def test_the_observer_of_the_command_line_is_told_of_the_demo(tmp_path):
    observer = StopAt()
    assert main(["demo", "-o", str(tmp_path), "-q"], observer=observer) == 0
    assert "graph of rows" in observer.seen
