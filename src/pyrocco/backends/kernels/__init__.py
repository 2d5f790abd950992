"""Loops compiled by numba, or run as plain Python if the environment sets NUMBA_DISABLE_JIT=1.

Kernels take plain arrays and return plain arrays. The algorithms that call them are elsewhere.
"""
