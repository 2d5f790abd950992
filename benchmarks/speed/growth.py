"""Growth of the run time with the number of rows, by stage (the paper's Fig. 5, top).

python -m benchmarks.speed.growth [--sizes 10,100,1000] [--variant refined]
"""

from __future__ import annotations

import argparse
import contextlib
import io
import time

import numpy as np

from benchmarks.paper.methods.fit_rocco import stage_seconds
from benchmarks.speed.machine import markdown, write
from pyrocco import ROCCO
from pyrocco.datasets import make_noisy_biclusters

SIZES = "10,20,50,100,200,500,1000"


def stages(X, variant):
    """Return the seconds of every stage, from the verbose output, and of the whole fit."""
    output = io.StringIO()
    started = time.perf_counter()
    with contextlib.redirect_stderr(output):
        ROCCO(variant=variant, verbose=1).fit(X)
    whole = time.perf_counter() - started
    seconds = stage_seconds(output.getvalue())
    return {**seconds, "whole fit": whole}


def slope(sizes, seconds):
    return float(np.polyfit(np.log(sizes), np.log(np.maximum(seconds, 1e-3)), 1)[0])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sizes", default=SIZES)
    parser.add_argument("--variant", default="refined")
    arguments = parser.parse_args()
    sizes = [int(size) for size in arguments.sizes.split(",")]
    ROCCO(variant=arguments.variant).fit(make_noisy_biclusters((2000, 100), 5, noise=10).X)
    found = []
    for size in sizes:
        X = make_noisy_biclusters((1000 * size, 100), 5, noise=10, random_state=0).X
        found.append(stages(X.astype(np.float32), arguments.variant))
        print(size, found[-1], flush=True)
    # The default learns no representation for these matrices, the literal variant does.
    names = list(dict.fromkeys(name for each in found for name in each if name != "whole fit"))
    names.append("whole fit")
    columns = {name: [each.get(name, 0.0) for each in found] for name in names}
    table = [
        [f"{size}k x 100", *(columns[name][place] for name in names)]
        for place, size in enumerate(sizes)
    ]
    slopes = ["log-log slope", *(slope(sizes, columns[name]) for name in names)]
    write(
        f"growth_{arguments.variant}",
        f"Growth with the number of rows, variant {arguments.variant}",
        f"python -m benchmarks.speed.growth --variant {arguments.variant} "
        f"--sizes {arguments.sizes}",
        "Seconds, float32, K unknown, noise 10.",
        markdown(["rows", *names], [*table, slopes]),
    )


if __name__ == "__main__":
    main()
