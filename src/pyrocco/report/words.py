"""What a fit found, in sentences for somebody who does not know the method."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pyrocco.io.named_matrix import stored_values

__all__ = ["count", "n_distrusted", "n_missing", "sentences", "warnings_of"]

_TAKEN_FOR = {
    "blocks": "The matrix looks like blocks under noise: where a group of rows meets a group of "
    "columns, cells differ by chance only.",
    "gradient": "The matrix looks like one gradient: rows differ by how much they have of one "
    "profile. A gradient has no groups.",
    "features": "The matrix is more than blocks under noise. Rows are grouped with rows of a like "
    "profile, columns with columns of a like profile.",
}
_UNSURE = 0.5


def count(number: int, what: str) -> str:
    """Put a number before a noun.

    Parameters
    ----------
    number : int
        How many.
    what : str
        The noun in the singular.

    Returns
    -------
    str

    Examples
    --------
    >>> count(1, "row"), count(12000, "cell")
    ('1 row', '12,000 cells')
    """
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def n_distrusted(weights: Any) -> int:
    """Cells of which less than half was kept.

    Parameters
    ----------
    weights : None, ndarray or sparse matrix
        `ROCCO.cell_weights_`.

    Returns
    -------
    int

    Examples
    --------
    >>> n_distrusted(np.array([[0.2, 0.9]])), n_distrusted(None)
    (1, 0)
    """
    if weights is None:
        return 0
    return int(np.count_nonzero(stored_values(weights) < 0.5))


def n_missing(X: Any) -> int:
    """Cells that are not there.

    Parameters
    ----------
    X : ndarray or sparse matrix
        The numbers.

    Returns
    -------
    int

    Examples
    --------
    >>> n_missing(np.array([[1.0, np.nan]]))
    1
    """
    return int(np.count_nonzero(np.isnan(stored_values(X))))


def sentences(model: Any, X: Any, summary: Mapping[str, Any]) -> list[str]:
    """Say what was found and how far to trust it.

    Parameters
    ----------
    model : estimator
        Fitted.
    X : ndarray or sparse matrix
        What it was fitted to.
    summary : mapping
        What `pyrocco fit` writes to ``summary.json``, or a part of it.

    Returns
    -------
    list of str

    Examples
    --------
    >>> from pyrocco import ROCCO
    >>> X = np.kron(np.eye(2), np.ones((20, 15))) + np.random.default_rng(0).random((40, 30))
    >>> sentences(ROCCO(2).fit(X), X, {})[0]
    'pyrocco found 2 groups of rows and 2 groups of columns in a matrix of 40 rows and 30 columns.'
    """
    lines = [_found(model, X.shape), _numbers(model)]
    lines.append(_TAKEN_FOR.get(getattr(model, "structure_", ""), ""))
    lines += _confidence(model)
    lines.append(_trust(model, X.shape))
    lines.append(_missing(X))
    lines.append(_prepared(summary))
    lines.append(_settled(model, summary))
    return [line for line in lines if line]


def warnings_of(summary: Mapping[str, Any]) -> list[str]:
    """What the reader should see before believing the groups.

    Parameters
    ----------
    summary : mapping
        What `pyrocco fit` writes to ``summary.json``, or a part of it.

    Returns
    -------
    list of str

    Examples
    --------
    >>> warnings_of({"warnings": ["It did not settle."]})
    ['It did not settle.']
    """
    lines = list(summary.get("warnings", ()))
    advice = summary.get("advice") or {}
    steps = [*(["transpose"] if advice.get("transpose") else []), *advice.get("steps", ())]
    if steps and not summary.get("prepared"):
        options = " ".join(f"--{step}" for step in steps)
        lines.append(
            f"The values look like {advice['kind']}. {advice['reason']} Recommended, and not "
            f"done here: pyrocco fit with {options}."
        )
    return lines


def _found(model: Any, shape: tuple[int, int]) -> str:
    rows, columns = count(_n(model.row_labels_), "group"), count(_n(model.column_labels_), "group")
    size = f"{count(shape[0], 'row')} and {count(shape[1], 'column')}"
    return f"pyrocco found {rows} of rows and {columns} of columns in a matrix of {size}."


def _n(labels: Any) -> int:
    return int(np.max(labels)) + 1


def _numbers(model: Any) -> str:
    given = getattr(model, "n_clusters", None)
    both = tuple(given) if isinstance(given, tuple | list) else (given, given)
    if both == (None, None):
        return "Neither number was given: both were found in the data."
    if None in both:
        side = "rows" if both[1] is None else "columns"
        return f"The number of groups of {side} was given, the other was found in the data."
    return "Both numbers were given."


def _confidence(model: Any) -> list[str]:
    if not hasattr(model, "row_membership_"):
        return []
    rows, columns = model.row_membership_, model.column_membership_
    means = f"{100 * rows.mean():.0f} % for rows and {100 * columns.mean():.0f} % for columns"
    lines = [f"The mean probability that a label is right is {means}."]
    unsure = [int(np.count_nonzero(side < _UNSURE)) for side in (rows, columns)]
    if any(unsure):
        which = f"{count(unsure[0], 'row')} and {count(unsure[1], 'column')}"
        lines.append(f"For {which} it is below 50 %: they could as well be in another group.")
    return lines


def _trust(model: Any, shape: tuple[int, int]) -> str:
    number = n_distrusted(getattr(model, "cell_weights_", None))
    if not number:
        return "All cells were trusted."
    share = _share(number, shape[0] * shape[1])
    verb = "does" if number == 1 else "do"
    return (
        f"{count(number, 'cell')} ({share}) {verb} not fit what surrounds them and counted for "
        "less than half; they are grey in the heat map."
    )


def _missing(X: Any) -> str:
    number = n_missing(X)
    if not number:
        return "No cell is missing."
    verb = "is" if number == 1 else "are"
    return (
        f"{count(number, 'cell')} ({_share(number, X.shape[0] * X.shape[1])}) {verb} missing: the "
        "groups come from the others. Missing cells are hatched in the heat map."
    )


def _share(number: int, of: int) -> str:
    return f"{100 * number / of:.2g} %"


def _prepared(summary: Mapping[str, Any]) -> str:
    if "prepared" not in summary:
        return ""
    if not summary["prepared"]:
        return "Values were taken as they are in the file."
    return f"Values were prepared before: {', '.join(summary['prepared'])}."


def _settled(model: Any, summary: Mapping[str, Any]) -> str:
    if not hasattr(model, "n_iter_"):
        return ""
    took = f" in {summary['seconds']:.3g} seconds" if "seconds" in summary else ""
    if getattr(model, "converged_", True):
        return f"The computation settled after {count(model.n_iter_, 'iteration')}{took}."
    return (
        f"The computation did not settle within {count(model.n_iter_, 'iteration')}{took}: allow "
        "more iterations before you rely on the groups."
    )
