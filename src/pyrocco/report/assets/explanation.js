// The table that `explain` returns in Python, for the chosen level of detail.
const EXPLAINED = ["kind", "row_cluster", "column_cluster", "column", "n_rows", "n_columns", "mean", "rest_mean", "effect", "direction", "p_adjusted", "homogeneity", "membership"];

function explanationText(level, rows, columns) {
  const number = (value) => (value === null ? "" : Math.abs(value) > 1e99 ? (value > 0 ? "inf" : "-inf") : String(Number(value.toPrecision(4))));
  const line = (kind, row, cluster, name, size, known) => [
    kind, row, cluster, csvCell(name), rows.sizes[row], size, number(known.mean), number(known.rest), number(known.effect),
    known.effect > 0 ? "higher" : known.effect < 0 ? "lower" : "", number(known.p), number(known.homogeneity), number(known.membership),
  ].join(",");
  const size = ([, known]) => (known.effect === null ? -1 : Math.abs(known.effect));
  const lines = rows.sizes.flatMap((_, row) => {
    const blocks = columns.sizes.map((__, column) => [column, level.block(row, column)]).sort((a, b) => size(b) - size(a));
    const single = level.distinctive.filter((each) => each.row === row);
    return [
      ...blocks.map(([column, known]) => line("block", row, column, "", columns.sizes[column], known)),
      ...single.map((known) => line("column", row, columns.labels[known.column], columns.names[known.column], 1, known)),
    ];
  });
  return `${[EXPLAINED.join(","), ...lines].join("\n")}\n`;
}
