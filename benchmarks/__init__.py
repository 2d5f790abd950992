"""Measurements of pyrocco: the paper's experiments, and speed."""
