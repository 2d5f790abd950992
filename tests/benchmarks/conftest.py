import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
# The benchmarks are no part of the package: they are found from the root of the repository.
# The worker processes of the runner find the tests' own methods in this folder.
sys.path[:0] = [str(HERE), str(HERE.parents[1])]
