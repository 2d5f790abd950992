"""Messages in the terminal, and handlers of signals."""

import signal
import warnings

from pyrocco.cli import main, terminal
from tests.stopping import StopAt


def test_the_demo_calls_the_observer_of_the_command_line(tmp_path):
    observer = StopAt()
    assert main(["demo", "-o", str(tmp_path), "-q"], observer=observer) == 0
    assert observer.events[-2:] == ["clusters", "end of clusters"]


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
