"""Table 1: all methods are given the true number of clusters."""

from benchmarks.paper.experiments.base import Experiment
from benchmarks.paper.experiments.real_table import RealTable
from benchmarks.paper.published import TABLE1, TABLE1_RANKS

TABLE = RealTable(
    name="table1",
    title="Table 1: the true number of clusters is given",
    line_up=(
        "km", "rcc+km", "scc", "sbc", "cobra+km", "rocco_paper+km", "rocco+km", "cn_x+km",
    ),
    stand_ins=("rocco+km", "rocco_paper+km"),
    printed=TABLE1,
    printed_ranks=TABLE1_RANKS,
)  # fmt: skip

EXPERIMENT = Experiment(TABLE.name, TABLE.title, TABLE.cells, TABLE.report)
