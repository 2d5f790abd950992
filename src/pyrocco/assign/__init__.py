"""From prepared data, or from a representation, to labels of the rows and of the columns."""

from pyrocco.assign.continuous import ContinuousAssigner
from pyrocco.assign.joint import Assigner, CoClusterer, Counted, EachSide, JointAssigner
from pyrocco.assign.kmeans import SilhouetteKMeans
from pyrocco.assign.labels import Assignment, SideLabels, relabel

__all__ = [
    "Assigner",
    "Assignment",
    "CoClusterer",
    "ContinuousAssigner",
    "Counted",
    "EachSide",
    "JointAssigner",
    "SideLabels",
    "SilhouetteKMeans",
    "relabel",
]
