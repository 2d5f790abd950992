"""Robust Continuous Co-Clustering (ROCCO): groups of rows and of columns of a matrix.

Implements He and Moreira-Matias, *Robust Continuous Co-Clustering* (2018).
"""

from importlib.metadata import version

__version__ = version("pyrocco")
