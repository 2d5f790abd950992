"""From a representation to labels of the rows and of the columns."""

from pyrocco.assign.continuous import ContinuousAssigner
from pyrocco.assign.joint import Assigner, CoClusterer, EachSide, JointAssigner
from pyrocco.assign.kmeans import SilhouetteKMeans
from pyrocco.assign.labels import Assignment, SideLabels, relabel

__all__ = [
    "Assigner",
    "Assignment",
    "CoClusterer",
    "ContinuousAssigner",
    "EachSide",
    "JointAssigner",
    "SideLabels",
    "SilhouetteKMeans",
    "relabel",
]
