"""Readers that misbehave, which tests run in a process of their own."""

import os
import sys
import time

import numpy as np

from pyrocco.io import MatrixError
from pyrocco.io.isolated import Parts


def good(path, *words):
    sys.stdout.write("libraries may print\n")
    os.write(1, b"what they like\n")
    arrays = {"a": np.arange(6.0).reshape(2, 3), "b": np.arange(3, dtype="i4"), "c": np.empty(0)}
    return Parts({"text": path.read_text(), "words": words, "pid": os.getpid()}, arrays)


def crash(path):
    os.abort()


def hang(path):
    time.sleep(60)


def spin(path):
    while True:
        pass


def leave(path):
    os._exit(0)


def refuse(path):
    raise MatrixError(f"{path}: is not\nfor you")


def fail(path):
    raise ZeroDivisionError("inside")


def fill_memory(path):
    return Parts({}, {"a": np.ones(10**14)})
