import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
# The benchmarks are not part of the package: they are imported from the root of the repository.
# The worker processes of the runner import the methods of the tests from this folder.
sys.path[:0] = [str(HERE), str(HERE.parents[1])]
