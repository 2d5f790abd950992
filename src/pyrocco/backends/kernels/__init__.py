"""Loops compiled by numba. Plain arrays in, plain arrays out; no algorithm lives here."""
