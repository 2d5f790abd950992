// How the values of each annotation are spread over the clusters at the chosen level of detail.
class CrossTables {
  constructor(root, side) {
    Object.assign(this, { root, side });
  }

  refresh() {
    const { side } = this;
    this.clusters = side.bands.map((band) => band.cluster);
    this.root.replaceChildren(...side.annotations.map((annotation) => this.card(annotation)));
  }

  card(annotation) {
    const [titles, lines] = annotation.isNumber ? this.numbers(annotation) : this.categories(annotation);
    const head = make("tr", {}, ...["cluster", ...titles].map((title) => make("th", { scope: "col" }, title)));
    const body = lines.map((cells, k) => make("tr", {}, make("th", { scope: "row" }, this.side.swatch(this.clusters[k])), ...cells.map((cell) => make("td", {}, cell))));
    const name = `${capital(this.side.noun)} clusters and ${annotation.name}`;
    const table = make("table", { class: "numbers" }, make("thead", {}, head), make("tbody", {}, ...body));
    return make("article", { class: "card wide" }, make("h4", {}, name), make("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": name }, table));
  }

  // Number of members in each category, and its share of the members that have a value.
  categories(annotation) {
    const { side } = this;
    const counts = side.sizes.map(() => new Array(annotation.categories.length + 1).fill(0));
    annotation.values.forEach((value, member) => { counts[side.labels[member]][value]++; });
    const cell = (number, known) => (known ? `${number.toLocaleString("en")} (${percent(number / known)})` : "0");
    const lines = this.clusters.map((cluster) => {
      const [missing, ...found] = counts[cluster];
      const known = found.reduce((sum, number) => sum + number, 0);
      return [...found.map((number) => cell(number, known)), ...(annotation.hasMissing ? [missing.toLocaleString("en")] : [])];
    });
    return [[...annotation.categories, ...(annotation.hasMissing ? ["missing"] : [])], lines];
  }

  numbers(annotation) {
    const lines = this.clusters.map((cluster) => {
      const values = [...annotation.values].filter((value, member) => this.side.labels[member] === cluster && !Number.isNaN(value)).sort((a, b) => a - b);
      const n = values.length;
      const mean = values.reduce((sum, value) => sum + value, 0) / n;
      const deviation = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (n - 1));
      const median = n % 2 ? values[(n - 1) / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
      const described = [...(annotation.isDate ? [] : [mean, deviation]), median, n ? values[0] : NaN, n ? values[n - 1] : NaN];
      return [n.toLocaleString("en"), ...described.map((value) => annotation.written(value, 3))];
    });
    return [["n", ...(annotation.isDate ? [] : ["mean", "sd"]), "median", "min", "max"], lines];
  }
}
