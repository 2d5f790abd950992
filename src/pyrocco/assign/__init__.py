"""From a representation to labels: one assigner, one file."""

from pyrocco.assign.assignment import Assignment, EachSide, JointAssigner
from pyrocco.assign.base import Assigner, relabel
from pyrocco.assign.coclusters import CoClusterer
from pyrocco.assign.continuous import ContinuousAssigner
from pyrocco.assign.kmeans import SilhouetteKMeans

__all__ = [
    "Assigner",
    "Assignment",
    "CoClusterer",
    "ContinuousAssigner",
    "EachSide",
    "JointAssigner",
    "SilhouetteKMeans",
    "relabel",
]
