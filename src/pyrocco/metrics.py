"""Agreement of labels with true labels, as measured in the paper."""

from __future__ import annotations

from numpy.typing import ArrayLike
from sklearn.metrics import (
    adjusted_mutual_info_score,
    adjusted_rand_score,
    normalized_mutual_info_score,
)

__all__ = ["agreement"]


def agreement(truth: ArrayLike, labels: ArrayLike) -> dict[str, float]:
    """Compute NMI, AMI and ARI between two labelings.

    Parameters
    ----------
    truth, labels : array-like of shape (n,)
        Clusters of the same rows or columns.

    Returns
    -------
    dict
        ``"nmi"``, ``"ami"`` and ``"ari"``: normalized and adjusted mutual information, and
        adjusted Rand index.

    Examples
    --------
    >>> agreement([0, 0, 1, 1], [5, 5, 3, 3])
    {'nmi': 1.0, 'ami': 1.0, 'ari': 1.0}
    """
    return {
        "nmi": float(normalized_mutual_info_score(truth, labels)),
        "ami": float(adjusted_mutual_info_score(truth, labels)),
        "ari": float(adjusted_rand_score(truth, labels)),
    }
