"""The progress bar of a command, and the lines that replace it where there is no terminal."""

import io
import re

import numpy as np
import pytest
from rich.console import Console

from pyrocco.cli import main, progress_bar, terminal
from pyrocco.progress import Overall
from tests.stopping import StopAt

STAGES = ["isolated outlier cells", "preparation", "clusters", "tables", "figure", "model"]


@pytest.fixture
def matrix(tmp_path, planted):
    path = tmp_path / "matrix.npy"
    np.save(path, planted[0])
    return path


def screen(monkeypatch, width=80, is_terminal=True):
    shown = io.StringIO()
    console = Console(file=shown, force_terminal=is_terminal, width=width)
    monkeypatch.setattr(terminal, "ERRORS", console)
    return shown


def plain(text):
    """Text without what controls the terminal."""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)


def fit(matrix, *options, observer=None):
    out = matrix.parent / "out"
    return main(["fit", str(matrix), "-o", str(out), *options], observer=observer)


def test_a_log_has_one_line_for_each_stage(matrix, monkeypatch):
    shown = screen(monkeypatch, is_terminal=False)
    with progress_bar.command_progress(False, STAGES) as progress:
        assert progress.watch is None
    assert shown.getvalue() == ""


def test_the_lines_of_a_fit(matrix, capsys):
    assert fit(matrix, "--variant", "paper") == 0
    lines = re.findall(r"^(.*): [\d.]+ s$", capsys.readouterr().err, re.MULTILINE)
    assert lines == [
        "reading",
        "preparation",
        "graph of rows",
        "graph of columns",
        "representation",
        "clusters",
        "tables",
        "figure",
        "model",
        "report",
    ]


def test_no_stage_has_two_lines_if_values_are_missing_and_wrong(tmp_path, planted, capsys):
    X = planted[0].copy()
    X[3, 5] = np.nan
    X[::4, ::5] *= 60
    np.save(tmp_path / "matrix.npy", X)
    assert fit(tmp_path / "matrix.npy", "--no-report") == 0
    lines = re.findall(r"^(.*): [\d.]+ s$", capsys.readouterr().err, re.MULTILINE)
    assert "missing values" in lines
    assert "fit without outlier cells" in lines
    assert len(lines) == len(set(lines))


def test_quiet_prints_nothing(matrix, capsys):
    assert fit(matrix, "--quiet") == 0
    assert capsys.readouterr() == ("", "")


def test_a_terminal_has_one_bar_and_no_lines_of_stages(matrix, monkeypatch):
    monkeypatch.setattr(progress_bar, "_QUIET_SECONDS", 0)
    shown, stages = screen(monkeypatch), []

    class Drawn(progress_bar._Bar):
        def draw(self):
            stages.append(self.overall.state().stage)
            return super().draw()

    monkeypatch.setattr(progress_bar, "_Bar", Drawn)
    assert fit(matrix) == 0
    assert "figure" in stages
    assert not re.search(r": [\d.]+ s$", plain(shown.getvalue()), re.MULTILINE)
    assert "%" in plain(shown.getvalue())
    assert "0/" not in plain(shown.getvalue())


@pytest.mark.parametrize("width", [20, 40, 80, 200])
def test_the_bar_is_one_line_at_every_width(width, monkeypatch):
    monkeypatch.setattr(progress_bar, "_QUIET_SECONDS", 0)
    screen(monkeypatch, width)
    now = [0.0]
    run = Overall(STAGES, 10**6, clock=lambda: now[0])
    for stage in STAGES[:2]:
        run.begin(stage, 0)
        now[0] += 3
        run.end(stage)
    run.begin("clusters", 0)
    drawn = io.StringIO()
    Console(file=drawn, width=width, force_terminal=True).print(progress_bar._Bar(run).draw())
    (line,) = plain(drawn.getvalue()).rstrip("\n").splitlines()
    assert len(line.rstrip()) <= width
    assert "clusters" in line
    assert ("left" in line) == (width >= 40)
    assert ("━" in line) == (width >= 80)


def test_the_observer_of_the_command_line_sees_the_fit_only(matrix, monkeypatch):
    screen(monkeypatch)
    observer = StopAt()
    assert fit(matrix, observer=observer) == 0
    assert observer.events[0] == "isolated outlier cells"
    assert observer.events[-1] == "end of clusters"
