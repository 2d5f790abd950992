// What is known about the rows, or about the columns, besides the matrix.
const MISSING = "#d9d9d9";
const MOST_TRACKS = 6; // further ones are drawn when they are chosen

class Annotation {
  constructor(text, values, position) {
    Object.assign(this, text); // name, categories, colours, limits
    this.isNumber = text.limits !== null;
    this.values = values; // numbers, or categories counted from 1, with 0 for a missing value
    this.isShown = position < MOST_TRACKS;
  }

  isMissing(member) {
    return this.isNumber ? Number.isNaN(this.values[member]) : this.values[member] === 0;
  }

  text(member) {
    if (this.isMissing(member)) return "missing";
    return this.isNumber ? digits(this.values[member]) : this.categories[this.values[member] - 1];
  }

  colour(member) {
    if (this.isMissing(member)) return MISSING;
    if (!this.isNumber) return this.colours[this.values[member] - 1];
    const [low, high] = this.limits;
    const share = (this.values[member] - low) / (high - low || 1);
    return this.colours[Math.max(0, Math.min(this.colours.length - 1, Math.floor(share * this.colours.length)))];
  }

  get hasMissing() { return this.values.some((value) => (this.isNumber ? Number.isNaN(value) : value === 0)); }
}

// The legends of the annotations of one side, with a box each to draw it or not.
function annotationLegend(side, redraw) {
  return side.annotations.map((annotation) => {
    const box = make("input", { type: "checkbox", checked: annotation.isShown, onchange: (event) => { annotation.isShown = event.target.checked; redraw(); } });
    const keys = annotation.isNumber
      ? [make("span", {}, digits(annotation.limits[0]), " ", make("i", { class: "ramp", style: `background:linear-gradient(90deg,${annotation.colours.join(",")})` }), " ", digits(annotation.limits[1]))]
      : annotation.categories.map((name, k) => make("span", {}, make("i", { class: "swatch", style: `background:${annotation.colours[k]}` }), name));
    if (annotation.hasMissing) keys.push(make("span", {}, make("i", { class: "swatch", style: `background:${MISSING}` }), "missing"));
    return make("div", { class: "annotation" }, make("label", {}, box, " ", make("strong", {}, annotation.name)), ...keys);
  });
}
