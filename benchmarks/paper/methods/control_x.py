"""The assignment step of default ROCCO alone, on the values as they are."""

import numpy as np
from scipy import sparse

from benchmarks.paper.methods.base import Found
from pyrocco.assign import CoClusterer
from pyrocco.cells.values import is_mostly_zero


def label_data(X, k, seed):
    """Label both sides at once as the default does, with `k` clusters each if given."""
    dense = X.toarray() if sparse.issparse(X) else X
    random_state = np.random.RandomState(seed)
    filled = not is_mostly_zero(X)
    assigner = CoClusterer(blocks=filled, random_state=random_state, by_length=filled)
    found = assigner.assign(dense, dense, (k, k))
    return Found(found.row_labels, found.column_labels)
