"""From a representation to labels: one assigner, one file."""

from pyrocco.assign.base import Assigner, relabel
from pyrocco.assign.continuous import ContinuousAssigner
from pyrocco.assign.kmeans import SilhouetteKMeans
from pyrocco.assign.refined import ModularityKMeans

__all__ = [
    "Assigner",
    "ContinuousAssigner",
    "ModularityKMeans",
    "SilhouetteKMeans",
    "relabel",
]
