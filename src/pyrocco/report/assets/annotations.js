// What is known about the rows, or about the columns, besides the matrix.
const MISSING = "#d9d9d9";
const DAY = 86400000; // milliseconds
const MINUTE = 60000;
const FEW_DAYS = 3;
const MOST_TRACKS = 6; // further ones are drawn when they are chosen

class Annotation {
  constructor(text, values, position) {
    Object.assign(this, text); // name, categories, colours, limits, isDate
    this.isNumber = text.limits !== null;
    // Numbers, days since 1970 of dates, or categories counted from 1, with 0 for a missing value.
    this.values = text.isDate ? Float64Array.from(values, (days) => days + text.limits[0]) : values;
    this.isShown = position < MOST_TRACKS;
  }

  isMissing(member) {
    return this.isNumber ? Number.isNaN(this.values[member]) : this.values[member] === 0;
  }

  text(member) {
    if (this.isMissing(member)) return "missing";
    return this.isNumber ? this.written(this.values[member]) : this.categories[this.values[member] - 1];
  }

  // A number with a few digits, or a date; its time is written if all dates are close.
  written(number, places = 4) {
    if (!this.isDate || Number.isNaN(number)) return digits(number, places);
    const time = new Date(Math.round((number * DAY) / MINUTE) * MINUTE).toISOString().replace("T", " ");
    return time.slice(0, this.limits[1] - this.limits[0] < FEW_DAYS ? 16 : 10);
  }

  get ends() { return this.limits.map((limit) => this.written(limit)); }

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
      ? [make("span", {}, annotation.ends[0], " ", make("i", { class: "ramp", style: `background:linear-gradient(90deg,${annotation.colours.join(",")})` }), " ", annotation.ends[1])]
      : annotation.categories.map((name, k) => make("span", {}, make("i", { class: "swatch", style: `background:${annotation.colours[k]}` }), name));
    if (annotation.hasMissing) keys.push(make("span", {}, make("i", { class: "swatch", style: `background:${MISSING}` }), "missing"));
    return make("div", { class: "annotation" }, make("label", {}, box, " ", make("strong", {}, annotation.name)), ...keys);
  });
}
