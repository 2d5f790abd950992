// The means of the blocks, the details of each, and what distinguishes each row cluster.
const SHOWN = 5; // columns listed on a card before "more"
const CARDS = 9; // row clusters with a card before "show more"
const NOTABLE = 0.2; // smaller effects are not mentioned

class Blocks {
  constructor(places, tiles, rows, columns, actions) {
    Object.assign(this, { places, tiles, rows, columns, actions });
    places.grid.addEventListener("keydown", (event) => this.key(event));
  }

  refresh(level) {
    this.level = level;
    this.known = new Map((level.blocks || []).map((line) => [`${line[0]},${line[1]}`, line.slice(2)]));
    this.rowClusters = this.rows.bands.map((band) => band.cluster);
    this.columnClusters = this.columns.bands.map((band) => band.cluster);
    this.buildGrid();
    this.chosen = null;
    this.choose(...this.strongest());
    this.showCards(CARDS);
    this.places.caution.textContent = level.blocks
      ? "The effect is the difference between the mean of the cluster and the mean of all other rows, in standard deviations. The clusters were found in the same data: use the adjusted p-values to rank differences, not as evidence that the clusters exist."
      : "This model has no statistics of its blocks.";
  }

  showCards(most) {
    const others = this.rowClusters.length - most;
    const more = make("button", { type: "button", onclick: () => this.showCards(Infinity) }, `Show ${count(others, "more row cluster")}`);
    this.places.cards.replaceChildren(...this.rowClusters.slice(0, most).map((cluster) => this.card(cluster)), ...(others > 0 ? [more] : []));
  }

  // Position of the block with the largest effect in the grid.
  strongest() {
    let [best, most] = [[0, 0], 0];
    this.rowClusters.forEach((row, i) => this.columnClusters.forEach((column, j) => {
      const effect = Math.abs(this.known.get(`${row},${column}`)?.[2] ?? 0);
      if (effect > most) [best, most] = [[i, j], effect];
    }));
    return best;
  }

  buildGrid() {
    const { rows, columns, level } = this;
    const head = make("tr", {}, make("td"), ...this.columnClusters.map((cluster) => make("th", { scope: "col" }, columns.swatch(cluster), ` · ${columns.sizes[cluster].toLocaleString("en")}`)));
    this.cells = this.rowClusters.map((r, i) => this.columnClusters.map((c, j) => this.cell(level.means[r][c], i, j)));
    const lines = this.rowClusters.map((cluster, i) => make("tr", {}, make("th", { scope: "row" }, rows.swatch(cluster), ` · ${rows.sizes[cluster].toLocaleString("en")}`), ...this.cells[i].map((cell) => make("td", {}, cell))));
    this.places.grid.replaceChildren(make("table", { "aria-label": "Means of the blocks" }, make("thead", {}, head), make("tbody", {}, ...lines)));
  }

  cell(mean, i, j) {
    const value = mean === null ? NaN : mean / this.tiles.unit;
    const colour = Number.isNaN(value) ? "" : `background:${this.tiles.css(value)};color:${this.tiles.isDark(value) ? "#fff" : "#111"}`;
    const words = `${this.rows.tag(this.rowClusters[i])} with ${this.columns.tag(this.columnClusters[j])}: mean ${digits(mean)}`;
    return make("button", { type: "button", style: colour, tabindex: "-1", "aria-pressed": "false", "aria-label": words, onclick: () => this.choose(i, j) }, digits(mean, 3));
  }

  // The whole grid is one Tab stop; arrow keys move within it.
  key(event) {
    const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    if (!(event.key in steps)) return;
    event.preventDefault();
    const [down, across] = steps[event.key];
    const i = Math.max(0, Math.min(this.rowClusters.length - 1, this.chosen[0] + down));
    const j = Math.max(0, Math.min(this.columnClusters.length - 1, this.chosen[1] + across));
    this.choose(i, j);
    this.cells[i][j].focus();
  }

  choose(i, j) {
    if (this.chosen) this.press(...this.chosen, false);
    this.chosen = [i, j];
    this.press(i, j, true);
    const [row, column] = [this.rowClusters[i], this.columnClusters[j]];
    this.places.block.replaceChildren(
      make("h4", {}, this.rows.swatch(row), " with ", this.columns.swatch(column)),
      make("p", {}, this.sentence(row, column)),
      make("p", {}, this.quality(row, column)),
      make("p", { class: "tools" },
        make("button", { type: "button", onclick: () => this.actions.show(row, column) }, "Show in the heat map"), " ",
        make("button", { type: "button", onclick: () => this.actions.list(this.rows, row) }, "List its rows"), " ",
        make("button", { type: "button", onclick: () => this.actions.list(this.columns, column) }, "List its columns")));
  }

  press(i, j, isPressed) {
    this.cells[i][j].setAttribute("aria-pressed", String(isPressed));
    this.cells[i][j].tabIndex = isPressed ? 0 : -1;
  }

  sentence(row, column) {
    const size = `${this.rows.members(row)} by ${this.columns.members(column)}, mean ${digits(this.level.means[row][column])}`;
    const known = this.known.get(`${row},${column}`);
    if (!known || known[2] === null) return `${size}.`;
    const [, rest, effect, p] = known;
    const how = Math.abs(effect) < NOTABLE ? "similar to" : effect > 0 ? "higher than" : "lower than";
    return `${size}: ${how} the other rows in these columns (mean ${digits(rest)}). Effect size ${digits(effect, 3)}, adjusted p-value ${p === 0 ? "below 1e−300" : digits(p, 2)}.`;
  }

  quality(row, column) {
    const known = this.known.get(`${row},${column}`);
    if (!known) return "";
    const [, , , , homogeneity, membership] = known;
    const even = homogeneity === null ? "" : `Homogeneity ${digits(homogeneity, 2)} (1: all values in the block are equal; 0: they vary as much as in the whole matrix; below 0: they vary more).`;
    return `${even} ${membership === null ? "" : `Mean membership of its rows and columns ${percent(membership)}.`}`;
  }

  card(row) {
    const columns = (this.level.distinctive || []).filter((line) => line[0] === row).map((line) => line.slice(1));
    const shown = columns.slice(0, SHOWN);
    const more = columns.slice(SHOWN);
    return make("article", { class: "card" },
      make("h4", {}, this.rows.swatch(row), ` · ${this.rows.members(row)}`),
      make("p", {}, this.comparison(row)),
      ...(shown.length ? [this.list(shown, true)] : []),
      ...(more.length ? [make("details", {}, make("summary", {}, `${more.length} more`), this.list(more, false))] : []),
      make("p", { class: "tools" }, make("button", { type: "button", class: "link", onclick: () => this.actions.list(this.rows, row) }, "list its rows")));
  }

  comparison(row) {
    if (!this.level.blocks) return "";
    if (this.rowClusters.length === 1) return "This is the only row cluster: there is nothing to compare it with.";
    const notable = this.columnClusters
      .map((column) => [column, this.known.get(`${row},${column}`)])
      .filter(([, known]) => known && known[2] !== null && Math.abs(known[2]) >= NOTABLE)
      .sort((a, b) => Math.abs(b[1][2]) - Math.abs(a[1][2]));
    const part = (isHigher) => notable.filter(([, known]) => known[2] > 0 === isHigher).map(([column]) => this.columns.tag(column));
    const parts = [["Higher", part(true)], ["lower", part(false)]].filter(([, tags]) => tags.length);
    if (!parts.length) return "Similar to the other rows in every column cluster.";
    const words = parts.map(([how, tags]) => `${how} than the other rows in ${tags.join(", ")}`).join("; ");
    const isLong = parts.some(([, tags]) => tags.length > 1);
    return `${words[0].toUpperCase()}${words.slice(1)}${isLong ? " (strongest first)" : ""}.`;
  }

  list(lines, hasTitles) {
    const titles = make("thead", {}, make("tr", {}, ...["column", "mean", "others", "effect"].map((title) => make("th", { scope: "col" }, title))));
    const body = lines.map(([column, mean, rest, effect]) => make("tr", {}, make("td", {}, this.columns.names[column]), ...[mean, rest, effect].map((value) => make("td", {}, digits(value, 3)))));
    return make("table", {}, ...(hasTitles ? [titles] : []), make("tbody", {}, ...body));
  }
}
