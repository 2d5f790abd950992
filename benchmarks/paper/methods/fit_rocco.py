"""Fit ROCCO and parse the seconds of its stages from the verbose output."""

from __future__ import annotations

import re
from contextlib import redirect_stderr
from io import StringIO
from typing import Any

from benchmarks.paper.methods.base import Found
from benchmarks.paper.methods.shared_representation import shared_representation
from pyrocco import ROCCO

# First word of a stage of the estimator -> stage of the paper's Fig. 5.
_STAGES = {"graph": "graph", "representation": "representation", "clusters": "assignment"}


def fit_rocco(X: Any, seed: int, **parameters: Any) -> Found:
    """Fit the values as they are, unless another preparation is given.

    Seconds that a shared representation saved are part of its stage.
    """
    parameters = {"prepare": None} | parameters
    output = StringIO()
    with redirect_stderr(output), shared_representation() as spared:
        model = ROCCO(random_state=seed, verbose=1, **parameters).fit(X)
    stages = stage_seconds(output.getvalue())
    if spared.seconds:
        stages["representation"] = round(stages["representation"] + spared.seconds, 4)
    # The default learns the representation only where its labels need it.
    U = model.representation_ if model.has_representation_ else None
    return Found(model.row_labels_, model.column_labels_, stages, U, spared.seconds)


def stage_seconds(output: str) -> dict[str, float]:
    """Sum the seconds in lines "name of ...: 1.23 s" by the first word of the name."""
    seconds: dict[str, float] = {}
    for name, value in re.findall(r"^(\w+)[^:\n]*: ([\d.]+) s$", output, flags=re.MULTILINE):
        stage = _STAGES.get(name, name)
        seconds[stage] = round(seconds.get(stage, 0.0) + float(value), 4)
    return seconds
