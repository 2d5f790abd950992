"""The optimisation problem: penalty, sides, linear system and schedule."""

from pyrocco.model.schedule import EveryFour, Schedule, SmoothOnce, SmoothUntilStill, UpToFour
from pyrocco.model.side import LengthScales, Side, geman_mcclure, length_scales, line_process
from pyrocco.model.system import SylvesterSystem

__all__ = [
    "EveryFour",
    "LengthScales",
    "Schedule",
    "Side",
    "SmoothOnce",
    "SmoothUntilStill",
    "SylvesterSystem",
    "UpToFour",
    "geman_mcclure",
    "length_scales",
    "line_process",
]
