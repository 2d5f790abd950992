"""Data sets of the ROCCO paper: noisy planted biclusters and nine real matrices."""

from pyrocco.datasets.dataset import Dataset
from pyrocco.datasets.real import GENE_SETS, REAL_SETS, TEXT_SETS, data_folder, load
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
