// Choose the rows, or the columns, by the value of an annotation.
class Filter {
  constructor(root, side, changed) {
    Object.assign(this, { side, changed });
    const id = `${side.kind}-filter`;
    this.name = make("select", { id, onchange: () => this.choose() }, make("option", { value: "" }, `all ${side.noun}s`), ...side.annotations.map((annotation, k) => make("option", { value: String(k) }, annotation.name)));
    this.value = make("span", { class: "value" });
    this.found = make("output", { class: "muted small", id: `${id}-found`, "aria-live": "polite" });
    root.append(make("div", { class: "filter" }, make("label", {}, `Show ${side.noun}s by `, this.name), this.value, this.found));
  }

  get annotation() { return this.name.value === "" ? null : this.side.annotations[Number(this.name.value)]; }

  choose() {
    const { annotation } = this;
    const label = (text, control) => { control.id = `${this.name.id}-${text}`; return make("label", {}, `${text} `, control); };
    const change = () => this.apply();
    this.category = this.low = this.high = null;
    if (annotation && annotation.isDate) {
      [this.low, this.high] = annotation.limits.map((limit) => make("input", { type: "date", value: new Date(limit * DAY).toISOString().slice(0, 10), oninput: change }));
      this.value.replaceChildren(label("from", this.low), label("to", this.high));
    } else if (annotation && annotation.isNumber) {
      [this.low, this.high] = annotation.limits.map((limit) => make("input", { type: "number", step: "any", value: String(limit), oninput: change }));
      this.value.replaceChildren(label("from", this.low), label("to", this.high));
    } else if (annotation) {
      const names = [...annotation.categories.map((name, k) => [k + 1, name]), ...(annotation.hasMissing ? [[0, "missing"]] : [])];
      this.category = make("select", { onchange: change }, ...names.map(([value, name]) => make("option", { value: String(value) }, name)));
      this.value.replaceChildren(label("value", this.category));
    } else this.value.replaceChildren();
    this.apply();
  }

  matches() {
    const { values } = this.annotation;
    if (this.category) { const wanted = Number(this.category.value); return (member) => values[member] === wanted; }
    if (this.annotation.isDate) { // all day of the last one
      const day = (box, otherwise) => (box.value === "" ? otherwise : Date.parse(box.value) / DAY);
      const [first, last] = [day(this.low, -Infinity), day(this.high, Infinity)];
      return (member) => values[member] >= first && values[member] < last + 1;
    }
    const limit = (box, otherwise) => (box.value === "" ? otherwise : Math.fround(Number(box.value)));
    const [low, high] = [limit(this.low, -Infinity), limit(this.high, Infinity)];
    return (member) => values[member] >= low && values[member] <= high;
  }

  apply() {
    const { side } = this;
    const test = this.annotation && this.matches();
    side.filter = test ? Uint8Array.from(side.names, (_, member) => Number(test(member))) : null;
    const number = side.filter && side.filter.reduce((sum, one) => sum + one, 0);
    this.found.textContent = side.filter ? `${count(number, side.noun)} of ${side.size.toLocaleString("en")}; the others are faded` : "";
    this.changed();
  }
}
