"""The state of a run of several stages: how much is done, and how long the rest takes."""

import pytest

from pyrocco.progress import _PACES, FIT_STAGES, Overall, StageLog
from pyrocco.texts import format_seconds


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def seconds_of(stage, n_cells):
    return _PACES[stage].seconds + _PACES[stage].per_million * n_cells / 1e6


@pytest.fixture
def clock():
    return Clock()


def run_stage(run, clock, stage, seconds):
    run.begin(stage, 0)
    clock.now += seconds
    run.end(stage)


@pytest.mark.parametrize("times", [0.1, 1.0, 20.0])
def test_the_time_left_follows_the_speed_of_the_machine(times, clock):
    cells = 10**7
    run = Overall(FIT_STAGES, cells, clock)
    expected = {stage: times * seconds_of(stage, cells) for stage in FIT_STAGES}
    run_stage(run, clock, FIT_STAGES[0], expected[FIT_STAGES[0]])
    run.begin("preparation", 0)
    state = run.state()
    rest = expected["preparation"] + expected["clusters"]
    assert state.left == pytest.approx(rest)
    assert state.fraction == pytest.approx(1 - rest / sum(expected.values()))
    clock.now += expected["preparation"] / 2
    assert run.state().left == pytest.approx(rest - expected["preparation"] / 2)


def test_the_time_left_is_unknown_at_first_and_if_a_stage_takes_too_long(clock):
    run = Overall(FIT_STAGES, 10**7, clock)
    run.begin("isolated outlier cells", 0)
    clock.now += 0.5
    assert run.state().left is None
    run.end("isolated outlier cells")
    run_stage(run, clock, "preparation", 0.05)
    run.begin("clusters", 0)
    assert run.state().left is not None
    clock.now += 1000
    late = run.state()
    assert late.left is None
    assert late.fraction < 1


def test_parts_that_are_counted_give_the_share_and_the_time(clock):
    run = Overall(["reproducibility"], clock=clock)
    run.begin("reproducibility", 20)
    assert (run.state().steps, run.state().left) == (0, None)
    for i in range(5):
        run.begin(f"split {i}", 0)
        run.begin("deeper", 3)
        run.end("deeper")
        clock.now += 2
        run.end(f"split {i}")
    state = run.state()
    assert (state.stage, state.step, state.steps) == ("reproducibility", 5, 20)
    assert (state.fraction, state.left) == (0.25, 30)


def test_bytes_of_a_file_give_the_share(clock):
    run = Overall(["reading"], clock=clock)
    run.begin("reading", 0)
    clock.now += 4
    run.advance(50, 200)
    assert (run.state().fraction, run.state().left, run.state().steps) == (0.25, 12, 0)


def test_the_fraction_never_decreases_and_ends_at_one(clock):
    run = Overall([*FIT_STAGES, "tables"], 10**6, clock)
    seen = []
    # Some of these stages were not expected, and one that was does not come.
    for stage in ("preparation", "clusters", "outlier cells", "fit without outlier cells"):
        run.begin(stage, 0)
        for _ in range(5):
            clock.now += 1
            seen.append(run.state().fraction)
        run.end(stage)
        seen.append(run.state().fraction)
    assert seen == sorted(seen)
    assert seen[-1] < 1
    run_stage(run, clock, "tables", 0.1)
    assert run.state().fraction == 1
    assert run.state().stage == "tables"


def test_more_stages_can_be_expected(clock):
    run = Overall(["tables"], clock=clock)
    run_stage(run, clock, "tables", 1)
    run.expect(["report"])
    assert run.state().fraction < 0.5


def test_lines_are_printed_for_whole_stages(capsys):
    for verbose, lines in ((0, 0), (1, 1), (2, 2)):
        log = StageLog(verbose)
        log.begin("outlier cells", None)
        log.begin("graph of rows", 0)
        log.end("graph of rows")
        log.end("outlier cells")
        assert len(capsys.readouterr().err.splitlines()) == lines


def test_durations_are_written_in_a_unit_to_read():
    assert [format_seconds(s) for s in (0, 99, 3599)] == ["1 s", "99 s", "60 min"]
