"""Methods for the tests of the runner, in a module that its worker process can import."""

import os
import time

import numpy as np
from benchmarks.paper.methods.base import NOWHERE, OneSided, TwoSided
from benchmarks.paper.methods.km import cluster as kmeans


def halves(X, k, seed):
    return (np.arange(X.shape[0]) < X.shape[0] // 2).astype(int)


def fail(X, k, seed):
    raise ValueError("does\nnot work")


def need_more(X, k, seed):
    raise ImportError("no module named nothing")


def die(X, k, seed):
    os._exit(3)


def hang(X, k, seed):
    time.sleep(60)


def gorge(X, k, seed):
    return np.ones(2**40)


KM = OneSided("km", "KM", NOWHERE, kmeans)
HALVES = OneSided("halves", None, NOWHERE, halves)
FAIL = OneSided("fail", None, NOWHERE, fail)
LACKING = OneSided("lacking", None, NOWHERE, need_more)
DIE = TwoSided("die", None, NOWHERE, die)
HANG = TwoSided("hang", None, NOWHERE, hang)
HANG_MORE = TwoSided("hang more", None, NOWHERE, hang, after="hang")
GORGE = OneSided("gorge", None, NOWHERE, gorge)
