"""Default ROCCO with some of its steps left out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from benchmarks.paper.methods.base import Found
from pyrocco import ROCCO


class _Ablated(ROCCO):
    """ROCCO whose variant is changed by a class attribute of a subclass."""

    changes: ClassVar[dict[str, Any]] = {}

    def _resolve(self, X: Any) -> Any:
        variant, solver = super()._resolve(X)
        return replace(variant, **self.changes), solver


def fit_without(X: Any, seed: int, **changes: Any) -> Found:
    model = type("Ablated", (_Ablated,), {"changes": changes})(random_state=seed).fit(X)
    return Found(model.row_labels_, model.column_labels_)
