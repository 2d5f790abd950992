"""Agreement with the truth, as measured today and as the paper's numbers were.

Its values for spectral methods and RCC on glioma and for spectral methods on allaml come out
within a unit of the last digit with the normalisations scikit-learn had in 2018: NMI over the
geometric mean of the entropies, AMI over the larger of them. Today both are over the
arithmetic mean.
"""

from __future__ import annotations

from typing import Any

from sklearn.metrics import adjusted_mutual_info_score, normalized_mutual_info_score

from pyrocco.metrics import agreement

# Name of a score to the name under which the paper prints it.
PRINTED = {"nmi_geometric": "nmi", "ami_max": "ami"}
SCORES = ("nmi", "ami", "ari", *PRINTED)
TITLES = {
    "nmi": "NMI",
    "ami": "AMI",
    "ari": "ARI",
    "nmi_geometric": "NMI as in the paper (over the geometric mean of the entropies)",
    "ami_max": "AMI as in the paper (over the larger entropy)",
}


def score(truth: Any, labels: Any) -> dict[str, float]:
    """All of SCORES.

    Examples
    --------
    >>> score([0, 0, 1, 1], [1, 1, 0, 0])["ami_max"]
    1.0
    """
    found = agreement(truth, labels) | {
        "nmi_geometric": normalized_mutual_info_score(truth, labels, average_method="geometric"),
        "ami_max": adjusted_mutual_info_score(truth, labels, average_method="max"),
    }
    return {name: round(float(value), 6) for name, value in found.items()}
