"""The weights that text mining gives to words."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer

from pyrocco.prepare.stored import check_not_negative, stored_values


def tfidf(X: Any, idf: NDArray[np.float64] | None = None) -> Any:
    """Weigh words by how few documents they are in, and scale documents to length 1.

    Term frequency times inverse document frequency, as scikit-learn's ``TfidfTransformer``
    computes it.

    Parameters
    ----------
    X : ndarray or sparse matrix
        Counts, without missing cells. Rows are documents, columns are words.
    idf : ndarray, optional
        Weights of the words to use instead, such as those of other documents (see
        `inverse_frequencies`).

    Returns
    -------
    ndarray or csr_array
        Of the kind and the precision of `X`, which is not changed.

    Raises
    ------
    ValueError
        A value is negative or missing.

    Examples
    --------
    >>> import numpy as np
    >>> from pyrocco.prepare import tfidf
    >>> tfidf(np.array([[3.0, 0.0], [3.0, 4.0]])).round(2)
    array([[1.  , 0.  ],
           [0.47, 0.88]])
    """
    check_not_negative(X, "tfidf", "it is for counts of words")
    if np.isnan(stored_values(X)).any():
        raise ValueError("tfidf needs a matrix without missing cells: fill them in.")
    transformer = TfidfTransformer()
    if idf is None:
        transformer.fit(sparse.csr_array(X))
    else:
        transformer.idf_ = idf
    weighted = transformer.transform(sparse.csr_array(X))
    return sparse.csr_array(weighted) if sparse.issparse(X) else weighted.toarray()


def inverse_frequencies(X: Any) -> NDArray[np.float64]:
    """Weight of every word: the larger, the fewer documents it is in.

    Examples
    --------
    >>> import numpy as np
    >>> inverse_frequencies(np.array([[3.0, 0.0], [3.0, 4.0]])).round(2).tolist()
    [1.0, 1.41]
    """
    return np.asarray(TfidfTransformer().fit(sparse.csr_array(X)).idf_)
