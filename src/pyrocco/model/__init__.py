"""The optimisation problem: penalty, sides, system and schedule."""

from pyrocco.model.penalty import geman_mcclure, line_process
from pyrocco.model.schedule import EveryFour, Schedule, SmoothOnce, SmoothUntilStill, UpToFour
from pyrocco.model.side import LengthScales, Side, length_scales
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
