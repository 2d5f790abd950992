"""Colours that colour-blind readers can tell apart (Okabe and Ito 2008)."""

__all__ = ["BLUE", "GREY", "ORANGE", "SKY", "VERMILION"]

BLUE = "#0072B2"
ORANGE = "#E69F00"
SKY = "#56B4E9"
VERMILION = "#D55E00"
GREY = "0.45"
