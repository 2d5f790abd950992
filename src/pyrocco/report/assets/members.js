// A table of rows, or of columns, to search, filter by cluster, sort, page through and download.
const PAGE = 20;
const MOST_PRINTED = 1000;
const MOST_SHOWN = 4; // annotations with a column of their own

class Members {
  constructor(root, side, show) {
    Object.assign(this, { root, side, show });
    this.page = 0;
    this.length = PAGE; // rows on a page
    this.sorted = { key: "place", down: false };
    this.build();
  }

  build() {
    const { side } = this;
    const id = `${side.kind}s`;
    this.search = make("input", { type: "search", id: `${id}-search`, placeholder: "part of a name", spellcheck: "false", oninput: () => this.restart() });
    this.choice = make("select", { id: `${id}-cluster`, onchange: () => this.restart() });
    this.found = make("output", { class: "muted small", "aria-live": "polite", id: `${id}-found` });
    this.head = make("tr");
    this.body = make("tbody");
    this.back = make("button", { type: "button", onclick: () => this.turnPage(-1) }, "Previous");
    this.next = make("button", { type: "button", onclick: () => this.turnPage(1) }, "Next");
    this.root.replaceChildren(
      make("h3", {}, capital(`${side.noun}s`)),
      make("div", { class: "toolbar tools" },
        make("label", {}, "Search ", this.search),
        make("label", {}, "Cluster ", this.choice),
        make("button", { type: "button", id: `${id}-download`, onclick: () => this.save() }, `Download ${side.noun}s (CSV)`)),
      make("table", {}, make("caption", {}, this.found), make("thead", {}, this.head), this.body),
      make("div", { class: "pager" }, this.back, this.next));
    const titles = [["name", "name"], ["label", "cluster"], ...(side.membership ? [["membership", "membership"]] : [])];
    this.listed = side.annotations.slice(0, MOST_SHOWN);
    this.listed.forEach((annotation, k) => titles.push([`annotation ${k}`, annotation.name]));
    this.titles = titles.map(([key, title]) => this.title(key, title));
    this.head.append(...this.titles, make("th", { scope: "col" }, make("span", { class: "tools" }, "heat map")));
  }

  title(key, text) {
    const cell = make("th", { scope: "col" }, make("button", { type: "button", onclick: () => this.sortBy(key) }, text));
    cell.dataset.key = key;
    return cell;
  }

  // Called when the level of detail has changed.
  refresh() {
    const { side } = this;
    const clusters = side.sizes.map((size, cluster) => make("option", { value: String(cluster) }, `${side.tag(cluster)} (${size.toLocaleString("en")})`));
    this.choice.replaceChildren(make("option", { value: "" }, "all"), ...clusters);
    this.restart();
  }

  choose(cluster) {
    this.search.value = "";
    this.choice.value = String(cluster);
    this.restart();
  }

  sortBy(key) {
    this.sorted = { key, down: this.sorted.key === key && !this.sorted.down };
    this.restart();
  }

  restart() {
    this.page = 0;
    this.chosen = this.select();
    this.draw();
  }

  select() {
    const { side, sorted } = this;
    const part = this.search.value.trim().toLowerCase();
    const cluster = this.choice.value;
    const chosen = [];
    for (const member of side.order) {
      if (cluster !== "" && side.labels[member] !== Number(cluster)) continue;
      if (side.filter && !side.filter[member]) continue;
      if (part === "" || side.lower[member].includes(part)) chosen.push(member);
    }
    const values = this.valuesOf(sorted.key);
    const sign = sorted.down ? -1 : 1;
    const compare = sorted.key === "name" ? new Intl.Collator("en", { numeric: true }).compare : (a, b) => a - b;
    const last = (member) => Number(Number.isNaN(values[member])); // missing numbers, whatever the direction
    return chosen.sort((a, b) => last(a) - last(b) || sign * compare(values[a], values[b]) || side.place[a] - side.place[b]);
  }

  valuesOf(key) {
    const { side } = this;
    if (key.startsWith("annotation ")) return this.listed[Number(key.slice(11))].values;
    return { name: side.lower, label: side.labels, membership: side.membership, place: side.place }[key];
  }

  // Printed pages list all members, as far as that is sensible.
  print(isPrinting) {
    this.length = isPrinting ? MOST_PRINTED : PAGE;
    this.page = 0;
    this.draw();
  }

  turnPage(by) {
    this.page += by;
    this.draw();
  }

  draw() {
    const { chosen, page, side } = this;
    const first = page * this.length;
    const after = Math.min(first + this.length, chosen.length);
    this.body.replaceChildren(...chosen.slice(first, after).map((member) => this.row(member)));
    const range = chosen.length ? `, showing ${(first + 1).toLocaleString("en")}–${after.toLocaleString("en")}` : "";
    this.found.textContent = `${count(chosen.length, side.noun)} of ${side.size.toLocaleString("en")}${range}`;
    this.back.disabled = page === 0;
    this.next.disabled = after >= chosen.length;
    for (const cell of this.titles) {
      const isSorted = cell.dataset.key === this.sorted.key;
      if (isSorted) cell.setAttribute("aria-sort", this.sorted.down ? "descending" : "ascending");
      else cell.removeAttribute("aria-sort");
      const button = cell.firstChild;
      button.textContent = button.textContent.replace(/ [▲▼]$/, "") + (isSorted ? (this.sorted.down ? " ▼" : " ▲") : "");
    }
  }

  row(member) {
    const { side } = this;
    const name = side.names[member];
    const cells = [make("td", {}, name), make("td", {}, side.swatch(side.labels[member]))];
    if (side.membership) {
      const share = side.membership[member];
      const bar = make("span", { class: "membership", "aria-hidden": "true" }, make("i", { style: `width:${100 * share}%` }));
      cells.push(make("td", {}, bar, percent(share)));
    }
    for (const annotation of this.listed) cells.push(make("td", { class: "annotated" }, make("i", { class: "swatch", style: `background:${annotation.colour(member)}` }), annotation.text(member)));
    const show = make("button", { type: "button", class: "link", "aria-label": `Show ${name} in the heat map`, onclick: () => this.show(side.kind, side.place[member]) }, "show");
    return make("tr", {}, ...cells, make("td", {}, show));
  }

  // In the order of the matrix, as in row_labels.csv and column_labels.csv.
  save() {
    const { side } = this;
    const titles = ["name", "label", ...(side.membership ? ["membership"] : []), ...side.annotations.map((annotation) => csvCell(annotation.name))];
    const known = (i) => side.annotations.map((annotation) => (annotation.isMissing(i) ? "" : annotation.isNumber && !annotation.isDate ? Number(annotation.values[i].toPrecision(7)) : csvCell(annotation.text(i))));
    const line = (name, i) => [csvCell(name), side.labels[i], ...(side.membership ? [Number(side.membership[i].toFixed(3))] : []), ...known(i)].join(",");
    download(`${side.kind}_labels.csv`, `${[titles.join(","), ...side.names.map(line)].join("\n")}\n`);
  }
}
