"""The linear system of one iteration."""

from __future__ import annotations

from dataclasses import dataclass, field

from pyrocco._typing import DeviceArray
from pyrocco.backends import Backend, Operator, Workspace


@dataclass(frozen=True)
class SylvesterSystem:
    """shift U + P U + U Q = shift X, where P and Q are Laplacians times their strengths.

    ROCCO's Eq. 11, (I + P) U + U (I + Q) = 2 X, has shift 2. RCC's (I + P) U = X has shift 1
    and no edges among the columns.
    """

    X: DeviceArray  # the data, on the back end
    shift: float  # weight of the data
    rows: Operator  # P
    columns: Operator  # Q
    backend: Backend
    # Arrays that all systems of a fit share.
    workspace: Workspace = field(default_factory=Workspace)
