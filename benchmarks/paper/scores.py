"""Agreement with the truth, with today's normalisation and with that of the paper.

The paper's values for spectral methods and RCC on glioma and for spectral methods on allaml are
reproduced to within one unit of the last digit with the normalisations of scikit-learn in 2018:
NMI is divided by the geometric mean of the entropies, AMI by the larger one. Today both are
divided by the arithmetic mean.
"""

from __future__ import annotations

from typing import Any

from sklearn.metrics import adjusted_mutual_info_score, normalized_mutual_info_score

from pyrocco.metrics import agreement

# Name of a score -> its name in the paper.
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
    """Compute all SCORES.

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
