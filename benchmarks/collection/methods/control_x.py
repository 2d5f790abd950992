"""Control: the preparation and the last step of ROCCO(), and nothing else.

The labels of ROCCO() come from the prepared data, so that this gives the same labels for a
complete matrix without outlier cells. It is kept as a check of cost: what `rocco` takes longer is
the search for outlier cells and the rest of a fit.
"""

from typing import Any

import numpy as np

from benchmarks.paper.methods.base import TEXT, Found, TwoSided
from pyrocco import ROCCO
from pyrocco.assign import Counted
from pyrocco.backends import NumpyBackend
from pyrocco.cells.input import check_matrix
from pyrocco.cells.values import is_mostly_zero, resolve_metric
from pyrocco.fitting.engines import Given, MemoryEngine
from pyrocco.fitting.settings import Settings


def cluster(X: Any, k: int, seed: int) -> Found:
    settings = Settings.of(ROCCO(random_state=seed).get_params(deep=False))
    backend = NumpyBackend()
    engine = MemoryEngine(backend)
    arranged = engine.arrange(Given(check_matrix(X, order="C")), settings.variant)
    cells = engine.prepare(arranged, settings)
    mostly_zero = is_mostly_zero(cells.X) and not cells.are_answers
    columns = None if cells.columns is None else backend.operand(cells.columns.X)
    values = backend.operand(cells.X)
    metric = resolve_metric(settings.metric, mostly_zero)
    assigner = settings.variant.assigner(mostly_zero, metric, backend)
    found = assigner.assign(values, values, (None, None), Counted(cells.counts, columns))
    rows = np.empty_like(found.row_labels)
    rows[arranged.copies.index] = found.row_labels
    return Found(rows, found.column_labels)


METHOD = TwoSided("control_x", None, TEXT, cluster)
