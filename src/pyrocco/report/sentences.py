"""The summary of a fit in plain English."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pyrocco._typing import FittedCoClustering, Labels, Matrix, stored_values
from pyrocco.io.errors import percent
from pyrocco.texts import Words, counted

__all__ = ["n_missing_values", "n_outlier_cells", "summary_sentences"]

_STRUCTURES = {
    "blocks": "The matrix consists of blocks and noise: within a block, the values differ only "
    "by chance.",
    "gradient": "The matrix looks like a single gradient: the {rows} differ only in their level, "
    "or in how strongly they show one profile. A gradient has no clusters.",
    "features": "{Rows} with similar profiles form a cluster, and so do {columns} with similar "
    "profiles. The values within a block differ by more than noise.",
}


def n_outlier_cells(weights: Matrix | None) -> int:
    """Count the outlier cells: those with a weight below 0.5."""
    return 0 if weights is None else int(np.count_nonzero(stored_values(weights) < 0.5))


def n_missing_values(X: Matrix) -> int:
    """Count the missing values of a matrix."""
    return int(np.count_nonzero(np.isnan(stored_values(X))))


def summary_sentences(
    model: FittedCoClustering,
    X: Matrix,
    summary: Mapping[str, Any],
    words: Words = Words(),  # noqa: B008 - immutable
) -> list[str]:
    """Describe the result of a fit; `summary` has keys of ``summary.json`` of `pyrocco fit`."""
    n_outliers = n_outlier_cells(getattr(model, "cell_weights_", None))
    sentences = [
        _clusters(model, X.shape, words),
        _given_numbers(getattr(model, "n_clusters", None), words),
        words.replaced(_STRUCTURES.get(getattr(model, "structure_", ""), "")),
        *_membership(model, words),
        _not_measured(model, summary),
        _outlier_cells(n_outliers, X.shape, words),
        _missing_values(n_missing_values(X), X.shape),
        _preparation(model, summary, words),
        _convergence(model, summary),
    ]
    return [sentence for sentence in sentences if sentence]


def _clusters(model: FittedCoClustering, shape: tuple[int, ...], words: Words) -> str:
    rows = counted(_n_clusters(model.row_labels_), f"{words.row} cluster")
    columns = counted(_n_clusters(model.column_labels_), f"{words.column} cluster")
    size = f"{counted(shape[0], words.row)} and {counted(shape[1], words.column)}"
    return f"pyrocco found {rows} and {columns} in a matrix of {size}."


def _n_clusters(labels: Labels) -> int:
    return int(np.max(labels)) + 1


def _given_numbers(n_clusters: object, words: Words) -> str:
    rows, columns = n_clusters if isinstance(n_clusters, tuple | list) else [n_clusters] * 2
    if rows is None and columns is None:
        return "Both numbers of clusters were determined from the data."
    if rows is not None and columns is not None:
        return "Both numbers of clusters were given."
    sides = words.row, words.column
    given, other = sides if columns is None else sides[::-1]
    return (
        f"The number of {given} clusters was given; the number of {other} clusters was "
        "determined from the data."
    )


def _membership(model: FittedCoClustering, words: Words) -> list[str]:
    rows = getattr(model, "row_membership_", None)
    columns = getattr(model, "column_membership_", None)
    if rows is None or columns is None:
        return []
    means = words.replaced(
        f"{100 * rows.mean():.0f} % for {{rows}} and {100 * columns.mean():.0f} % for {{columns}}"
    )
    sentences = [
        f"The mean membership probability is {means}. Membership is the probability of a label "
        "under the fitted model; it does not say how likely the label is to be right."
    ]
    low = {words.row: int((rows < 0.5).sum()), words.column: int((columns < 0.5).sum())}
    if any(low.values()):
        which = " and ".join(counted(number, side) for side, number in low.items() if number)
        sentences.append(
            f"The membership probability of {which} is below 50 %: another cluster may fit "
            "them as well."
        )
    return sentences


def _not_measured(model: FittedCoClustering, summary: Mapping[str, Any]) -> str:
    """Say how to measure what membership does not say, if it was not measured."""
    if "reproducibility" in summary or not hasattr(model, "row_membership_"):
        return ""
    return (
        "Whether the clusters are found again in other parts of the data was not measured: "
        "pyrocco fit with --reproducibility 20, or pyrocco.reproducibility in Python, does that."
    )


def _outlier_cells(number: int, shape: tuple[int, ...], words: Words) -> str:
    if not number:
        return words.replaced("No outlier {entries} were found.")
    found = f"{counted(number, f'outlier {words.entry}')} ({_share(number, shape)})"
    is_value = words.entry == "value"
    if number == 1:
        subject = "it is" if is_value else "its value is"
        return (
            f"{found} was found: {subject} far from those of its block, and it counted less "
            "than half in the fit. It is grey in the heat map."
        )
    subject = "they are" if is_value else "their values are"
    return (
        f"{found} were found: {subject} far from those of their blocks, and they counted "
        "less than half in the fit. They are grey in the heat map."
    )


def _missing_values(number: int, shape: tuple[int, ...]) -> str:
    if not number:
        return "No values are missing."
    verb = "is" if number == 1 else "are"
    return (
        f"{counted(number, 'value')} ({_share(number, shape)}) {verb} missing. The clusters were "
        "found from the other values. Missing values are hatched in the heat map."
    )


def _share(number: int, shape: tuple[int, ...]) -> str:
    return percent(number / (shape[0] * shape[1]))


def _preparation(model: FittedCoClustering, summary: Mapping[str, Any], words: Words) -> str:
    """Say what the cells are and how they were prepared; a summary knows more than the model."""
    kind = summary.get("cells", getattr(model, "cells_", None))
    sentence = summary.get("preparation", getattr(model, "preparation_", ""))
    if kind is None:
        return ""
    verb = "have" if kind == "different units" else "are"
    return f"The {words.entry}s {verb} {kind}. {words.translated(sentence)}"


def _format_seconds(seconds: float) -> str:
    return f"{seconds:.3g} seconds" if seconds < 100 else f"{seconds:.0f} seconds"


def _convergence(model: FittedCoClustering, summary: Mapping[str, Any]) -> str:
    took = f" in {_format_seconds(summary['seconds'])}" if "seconds" in summary else ""
    if not getattr(model, "has_representation_", hasattr(type(model), "history_")):
        return f"The fit took {took.removeprefix(' in ')}." if took else ""
    if not hasattr(model, "n_iter_"):
        return ""
    iterations = f"{counted(model.n_iter_, 'iteration')}{took}"
    if getattr(model, "converged_", True):
        return f"The fit converged after {iterations}."
    return (
        f"The fit did not converge within {iterations}: allow more iterations before you rely "
        "on the clusters."
    )
