"""The data sets of the ROCCO paper: noisy planted biclusters and nine real matrices."""

from pyrocco.datasets.base import Dataset
from pyrocco.datasets.catalogue import GENE_SETS, REAL_SETS, TEXT_SETS
from pyrocco.datasets.real import data_folder, load
from pyrocco.datasets.synthetic import make_noisy_biclusters

__all__ = [
    "GENE_SETS",
    "REAL_SETS",
    "TEXT_SETS",
    "Dataset",
    "data_folder",
    "load",
    "make_noisy_biclusters",
]
