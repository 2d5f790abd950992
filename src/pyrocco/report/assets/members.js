// A table of rows, or of columns: search, choose a group, sort, turn pages, download.
const PAGE = 20;

class Members {
  constructor(root, side, show) {
    Object.assign(this, { root, side, show });
    this.page = 0;
    this.sorted = { key: "place", down: false };
    this.build();
  }

  build() {
    const { side } = this;
    const id = `${side.kind}s`;
    this.search = make("input", { type: "search", id: `${id}-search`, placeholder: "part of a name", spellcheck: "false", oninput: () => this.restart() });
    this.choice = make("select", { id: `${id}-group`, onchange: () => this.restart() });
    this.found = make("output", { class: "muted small", "aria-live": "polite", id: `${id}-found` });
    this.head = make("tr");
    this.body = make("tbody");
    this.back = make("button", { type: "button", onclick: () => this.turn(-1) }, "Previous");
    this.next = make("button", { type: "button", onclick: () => this.turn(1) }, "Next");
    this.root.replaceChildren(
      make("h3", {}, side.kind === "row" ? "Rows" : "Columns"),
      make("div", { class: "toolbar tools" },
        make("label", {}, "Search ", this.search),
        make("label", {}, "Group ", this.choice),
        make("button", { type: "button", id: `${id}-download`, onclick: () => this.save() }, `Download ${id} (CSV)`)),
      make("table", {}, make("caption", {}, this.found), make("thead", {}, this.head), this.body),
      make("div", { class: "pager" }, this.back, this.next));
    const titles = { name: "name", label: "group", ...(side.confidence ? { confidence: "confidence" } : {}) };
    this.titles = Object.entries(titles).map(([key, title]) => this.title(key, title));
    this.head.append(...this.titles, make("th", { scope: "col" }, make("span", { class: "tools" }, "heat map")));
  }

  title(key, words) {
    const cell = make("th", { scope: "col" }, make("button", { type: "button", onclick: () => this.sortBy(key) }, words));
    cell.dataset.key = key;
    return cell;
  }

  // The level of detail has changed.
  refresh() {
    const { side } = this;
    const groups = side.sizes.map((size, group) => make("option", { value: String(group) }, `${side.tag(group)} (${size.toLocaleString("en")})`));
    this.choice.replaceChildren(make("option", { value: "" }, "all"), ...groups);
    this.restart();
  }

  choose(group) {
    this.search.value = "";
    this.choice.value = String(group);
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
    const group = this.choice.value;
    const chosen = [];
    for (const member of side.order) {
      if (group !== "" && side.labels[member] !== Number(group)) continue;
      if (part === "" || side.lower[member].includes(part)) chosen.push(member);
    }
    const values = { name: side.lower, label: side.labels, confidence: side.confidence, place: side.place }[sorted.key];
    const sign = sorted.down ? -1 : 1;
    const compare = sorted.key === "name" ? new Intl.Collator("en", { numeric: true }).compare : (a, b) => a - b;
    return chosen.sort((a, b) => sign * compare(values[a], values[b]) || side.place[a] - side.place[b]);
  }

  turn(by) {
    this.page += by;
    this.draw();
  }

  draw() {
    const { chosen, page, side } = this;
    const first = page * PAGE;
    const after = Math.min(first + PAGE, chosen.length);
    this.body.replaceChildren(...chosen.slice(first, after).map((member) => this.line(member)));
    const range = chosen.length ? `, showing ${(first + 1).toLocaleString("en")}–${after.toLocaleString("en")}` : "";
    this.found.textContent = `${count(chosen.length, side.kind)} of ${side.size.toLocaleString("en")}${range}`;
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

  line(member) {
    const { side } = this;
    const name = side.names[member];
    const cells = [make("td", {}, name), make("td", {}, side.swatch(side.labels[member]))];
    if (side.confidence) {
      const share = side.confidence[member];
      const bar = make("span", { class: "confidence", "aria-hidden": "true" }, make("i", { style: `width:${100 * share}%` }));
      cells.push(make("td", {}, bar, percent(share)));
    }
    const show = make("button", { type: "button", class: "link", "aria-label": `Show ${name} in the heat map`, onclick: () => this.show(side.kind, side.place[member]) }, "show");
    return make("tr", {}, ...cells, make("td", {}, show));
  }

  // In the order of the file, as row_labels.csv and column_labels.csv are.
  save() {
    const { side } = this;
    const title = side.confidence ? "name,label,confidence" : "name,label";
    const line = (name, i) => [csvCell(name), side.labels[i], ...(side.confidence ? [Number(side.confidence[i].toFixed(3))] : [])].join(",");
    download(`${side.kind}_labels.csv`, `${[title, ...side.names.map(line)].join("\n")}\n`);
  }
}
