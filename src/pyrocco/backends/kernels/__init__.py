"""Loops over plain arrays, compiled by numba, or plain Python if NUMBA_DISABLE_JIT=1 is set."""
