// The row clusters, or the column clusters, at the chosen level of detail.
const COLOURS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#8c8c8c"];

class Side {
  constructor(kind, data) {
    Object.assign(this, data);
    this.kind = kind; // "row" or "column"
    this.letter = kind === "row" ? "R" : "C";
    this.size = data.names.length;
    this.place = new Uint32Array(this.size); // position in the sorted matrix
    this.order.forEach((member, place) => { this.place[member] = place; });
    this.lower = data.names.map((name) => name.toLowerCase());
  }

  // `clusterOfLeaf` maps each of the finest clusters to its cluster at this level.
  setLevel(clusterOfLeaf) {
    this.labels = Uint32Array.from(this.leaves, (leaf) => clusterOfLeaf[leaf]);
    this.sizes = new Array(Math.max(...clusterOfLeaf) + 1).fill(0);
    for (const label of this.labels) this.sizes[label]++;
    this.bands = [];
    this.colours = [];
    for (let place = 0; place < this.size;) {
      const cluster = this.labels[this.order[place]];
      const band = { cluster, start: place, end: place + this.sizes[cluster] };
      this.colours[cluster] = COLOURS[this.bands.length % COLOURS.length]; // neighbours differ
      this.bands.push(band);
      place = band.end;
    }
  }

  tag(cluster) { return `${this.letter}${cluster}`; }

  swatch(cluster) {
    return make("span", {}, make("i", { class: "swatch", style: `background:${this.colours[cluster]}` }), this.tag(cluster));
  }

  members(cluster) { return count(this.sizes[cluster], this.kind); }
}
