"""The error of checkpoints."""

from __future__ import annotations

__all__ = ["CheckpointError"]


class CheckpointError(RuntimeError):
    """A fit cannot go on from a checkpoint; the message says why, in one line.

    Examples
    --------
    >>> raise CheckpointError("night.pyrocco: is damaged")
    Traceback (most recent call last):
    pyrocco.checkpoint.errors.CheckpointError: night.pyrocco: is damaged
    """
