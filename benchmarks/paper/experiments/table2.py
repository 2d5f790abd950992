"""Table 2: the number of clusters is unknown."""

from benchmarks.paper.experiments.base import Experiment
from benchmarks.paper.experiments.real_table import RealTable
from benchmarks.paper.published import TABLE2, TABLE2_RANKS

TABLE = RealTable(
    name="table2",
    title="Table 2: the number of clusters is unknown",
    line_up=(
        "auto_km", "hdbscan", "rcc", "auto_scc", "auto_sbc", "cobra", "cobra_r", "rocco_paper",
        "rocco", "cn_x", "rcc_refined", "leiden",
    ),
    stand_ins=("rocco", "rocco_paper"),
    printed=TABLE2,
    printed_ranks=TABLE2_RANKS,
)  # fmt: skip

EXPERIMENT = Experiment(TABLE.name, TABLE.title, TABLE.cells, TABLE.report)
