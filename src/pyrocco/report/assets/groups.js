// The groups of rows, or of columns, at the chosen level of detail.
const COLOURS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#8c8c8c"];

class Side {
  constructor(kind, data) {
    Object.assign(this, data);
    this.kind = kind; // "row" or "column"
    this.letter = kind === "row" ? "R" : "C";
    this.size = data.names.length;
    this.place = new Uint32Array(this.size); // where in the picture
    this.order.forEach((member, place) => { this.place[member] = place; });
    this.lower = data.names.map((name) => name.toLowerCase());
  }

  // `coarsening` says in which group each of the finest groups is.
  setLevel(coarsening) {
    this.labels = Uint32Array.from(this.leaves, (leaf) => coarsening[leaf]);
    this.sizes = new Array(Math.max(...coarsening) + 1).fill(0);
    for (const label of this.labels) this.sizes[label]++;
    this.bands = [];
    this.colours = [];
    for (let place = 0; place < this.size;) {
      const group = this.labels[this.order[place]];
      const band = { group, start: place, end: place + this.sizes[group] };
      this.colours[group] = COLOURS[this.bands.length % COLOURS.length]; // neighbours differ
      this.bands.push(band);
      place = band.end;
    }
  }

  tag(group) { return `${this.letter}${group}`; }

  swatch(group) {
    return make("span", {}, make("i", { class: "swatch", style: `background:${this.colours[group]}` }), this.tag(group));
  }

  members(group) { return count(this.sizes[group], this.kind); }
}
