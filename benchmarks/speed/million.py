"""Time and peak memory of a fit of a million rows.

python -m benchmarks.speed.million
"""

from __future__ import annotations

import resource
import time

import numpy as np
from sklearn.metrics import adjusted_rand_score

from benchmarks.speed.machine import markdown, write
from pyrocco import ROCCO
from pyrocco.datasets import make_noisy_biclusters


def data(n_rows):
    """Make the paper's synthetic set in chunks; at once it would need four times the memory."""
    parts = [
        make_noisy_biclusters((100_000, 100), 5, noise=10, random_state=0)
        for _ in range(n_rows // 100_000)
    ]
    rng = np.random.default_rng(0)
    X = np.concatenate([part.X.astype(np.float32) for part in parts])
    X += rng.normal(scale=10, size=X.shape).astype(np.float32)
    return X, np.concatenate([part.row_labels for part in parts])


def gigabytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def main():
    X, truth = data(1_000_000)
    before = gigabytes()
    started = time.perf_counter()
    model = ROCCO(verbose=1).fit(X)
    seconds = time.perf_counter() - started
    score = adjusted_rand_score(truth, model.row_labels_)
    row = [seconds, before, gigabytes(), model.n_row_clusters_, score]
    header = ["seconds", "GB before", "GB at the peak", "row clusters", "ARI of rows"]
    write(
        "million",
        "1,000,000 x 100 float32",
        "python -m benchmarks.speed.million",
        markdown(header, [row]),
    )


if __name__ == "__main__":
    main()
