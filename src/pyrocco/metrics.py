"""Agreement of found with true labels, as the paper measures it."""

from __future__ import annotations

from typing import Any

from sklearn.metrics import (
    adjusted_mutual_info_score,
    adjusted_rand_score,
    normalized_mutual_info_score,
)


def agreement(truth: Any, labels: Any) -> dict[str, float]:
    """NMI, AMI and ARI between two labelings of the same rows.

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
