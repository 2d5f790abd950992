"""The final assignment of default ROCCO, on the data."""

import numpy as np
from scipy import sparse

from pyrocco.assign import ModularityKMeans


def label_data(X, k, seed):
    dense = X.toarray() if sparse.issparse(X) else X
    return ModularityKMeans(random_state=np.random.RandomState(seed)).assign(dense, k)
