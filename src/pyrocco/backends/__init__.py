"""Where arrays live and what is done to them there."""

from pyrocco.backends.base import Backend, Operator
from pyrocco.backends.numpy import NumpyBackend

__all__ = ["Backend", "NumpyBackend", "Operator"]
