"""EVoC, which determines the number of clusters. Noise points count as one more cluster."""

import numpy as np

from benchmarks.paper.methods.base import EVERYWHERE, OneSided
from pyrocco.cells.values import to_dense


def cluster(X, k, seed):
    try:
        from evoc import EVoC  # noqa: PLC0415
    except ImportError as error:
        raise ImportError(f"{error}; for EVoC run: pip install --group bench") from error
    return EVoC(random_state=seed).fit_predict(to_dense(X).astype(np.float32))


METHOD = OneSided("evoc", None, EVERYWHERE, cluster)
