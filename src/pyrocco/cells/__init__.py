"""The values of a matrix: what they are, and how they are prepared for a fit."""
