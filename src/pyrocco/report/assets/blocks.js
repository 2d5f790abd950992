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
    this.rowClusters = this.rows.bands.map((band) => band.cluster);
    this.columnClusters = this.columns.bands.map((band) => band.cluster);
    this.buildGrid();
    this.chosen = null;
    this.choose(...this.strongest());
    this.showCards(CARDS);
    this.places.caution.textContent = level.hasStatistics
      ? `The effect is the difference between the mean of the cluster and the mean of all other ${this.rows.noun}s, in standard deviations. The clusters were found in the same data: use the adjusted p-values to rank differences, not as evidence that the clusters exist.`
      : "This model has no statistics of its blocks.";
  }

  showCards(most) {
    const others = this.rowClusters.length - most;
    const more = make("button", { type: "button", onclick: () => this.showCards(Infinity) }, `Show ${count(others, `more ${this.rows.noun} cluster`)}`);
    this.places.cards.replaceChildren(...this.rowClusters.slice(0, most).map((cluster) => this.card(cluster)), ...(others > 0 ? [more] : []));
  }

  print(isPrinting) { this.showCards(isPrinting ? Infinity : CARDS); }

  // Position of the block with the largest effect in the grid.
  strongest() {
    let [best, most] = [[0, 0], 0];
    this.rowClusters.forEach((row, i) => this.columnClusters.forEach((column, j) => {
      const effect = Math.abs(this.level.block(row, column)?.effect ?? 0);
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
    const size = { row: this.rows.size, column: this.columns.size };
    const drawn = this.tiles.isScaled ? this.tiles.meanOf(this.rows.bands[i], this.columns.bands[j], size) : mean / this.tiles.unit;
    const value = mean === null ? NaN : drawn;
    const colour = Number.isNaN(value) ? "" : `background:${this.tiles.css(value)};color:${this.tiles.isDark(value) ? "#fff" : "#000"}`;
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
      make("h3", {}, this.rows.swatch(row), " with ", this.columns.swatch(column)),
      make("p", {}, this.sentence(row, column)),
      make("p", {}, this.quality(row, column)),
      make("p", { class: "tools" },
        make("button", { type: "button", onclick: () => this.actions.show(row, column) }, "Show in the heat map"), " ",
        make("button", { type: "button", onclick: () => this.actions.list(this.rows, row) }, `List its ${this.rows.noun}s`), " ",
        make("button", { type: "button", onclick: () => this.actions.list(this.columns, column) }, `List its ${this.columns.noun}s`)));
  }

  press(i, j, isPressed) {
    this.cells[i][j].setAttribute("aria-pressed", String(isPressed));
    this.cells[i][j].tabIndex = isPressed ? 0 : -1;
  }

  sentence(row, column) {
    const size = `${this.rows.members(row)} by ${this.columns.members(column)}, mean ${digits(this.level.means[row][column])}`;
    const known = this.level.block(row, column);
    if (!known || known.effect === null) return `${size}.`;
    const how = Math.abs(known.effect) < NOTABLE ? "similar to" : known.effect > 0 ? "higher than" : "lower than";
    const p = known.p === 0 ? "below 1e−300" : digits(known.p, 2);
    return `${size}: ${how} the other ${this.rows.noun}s in these ${this.columns.noun}s (mean ${digits(known.rest)}). Effect size ${digits(known.effect, 3)}, adjusted p-value ${p}.`;
  }

  quality(row, column) {
    const known = this.level.block(row, column);
    if (!known) return "";
    const even = known.homogeneity === null ? "" : `Homogeneity ${digits(known.homogeneity, 2)} (1: all values in the block are equal; 0: they vary as much as in the whole matrix; below 0: they vary more).`;
    return `${even} Mean membership of its ${this.rows.noun}s and ${this.columns.noun}s ${percent(known.membership)}.`;
  }

  card(row) {
    const columns = this.level.distinctive.filter((line) => line.row === row);
    const shown = columns.slice(0, SHOWN);
    const more = columns.slice(SHOWN);
    return make("article", { class: "card" },
      make("h4", {}, this.rows.swatch(row), ` · ${this.rows.members(row)}`),
      make("p", {}, this.comparison(row)),
      ...(shown.length ? [this.list(shown, true)] : []),
      ...(more.length ? [make("details", {}, make("summary", {}, `${more.length} more`), this.list(more, false))] : []),
      make("p", { class: "tools" }, make("button", { type: "button", class: "link", onclick: () => this.actions.list(this.rows, row) }, `list its ${this.rows.noun}s`)));
  }

  comparison(row) {
    if (!this.level.hasStatistics) return "";
    if (this.rowClusters.length === 1) return `This is the only ${this.rows.noun} cluster: there is nothing to compare it with.`;
    const notable = this.columnClusters
      .map((column) => [column, this.level.block(row, column).effect])
      .filter(([, effect]) => effect !== null && Math.abs(effect) >= NOTABLE)
      .sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]));
    const part = (isHigher) => notable.filter(([, effect]) => effect > 0 === isHigher).map(([column]) => this.columns.tag(column));
    const parts = [["Higher", part(true)], ["lower", part(false)]].filter(([, tags]) => tags.length);
    if (!parts.length) return `Similar to the other ${this.rows.noun}s in every ${this.columns.noun} cluster.`;
    const words = parts.map(([how, tags]) => `${how} than the other ${this.rows.noun}s in ${tags.join(", ")}`).join("; ");
    const isLong = parts.some(([, tags]) => tags.length > 1);
    return `${capital(words)}${isLong ? " (strongest first)" : ""}.`;
  }

  list(lines, hasTitles) {
    const titles = make("thead", {}, make("tr", {}, ...[this.columns.noun, "mean", "others", "effect"].map((title) => make("th", { scope: "col" }, title))));
    const body = lines.map((line) => make("tr", {}, make("td", {}, this.columns.names[line.column]), ...[line.mean, line.rest, line.effect].map((value) => make("td", {}, digits(value, 3)))));
    return make("table", {}, ...(hasTitles ? [titles] : []), make("tbody", {}, ...body));
  }
}
