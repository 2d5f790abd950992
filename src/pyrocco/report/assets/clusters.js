// The row clusters, or the column clusters, at the chosen level of detail.
class Side {
  constructor(kind, noun, data) {
    Object.assign(this, data); // names, order, leaves, colours, annotations, membership
    this.kind = kind; // "row" or "column"
    this.noun = noun; // what the page calls it
    this.letter = noun[0].toUpperCase();
    this.size = data.names.length;
    this.place = new Uint32Array(this.size); // position in the sorted matrix
    this.order.forEach((member, place) => { this.place[member] = place; });
    this.lower = data.names.map((name) => name.toLowerCase());
    this.filter = null; // set by a Filter: 1 for members that match
  }

  // `clusterOfLeaf` maps each of the finest clusters to its cluster at this level.
  setLevel(clusterOfLeaf) {
    this.labels = Uint32Array.from(this.leaves, (leaf) => clusterOfLeaf[leaf]);
    this.sizes = new Array(Math.max(...clusterOfLeaf) + 1).fill(0);
    for (const label of this.labels) this.sizes[label]++;
    this.bands = [];
    for (let place = 0; place < this.size;) {
      const cluster = this.labels[this.order[place]];
      const band = { cluster, start: place, end: place + this.sizes[cluster] };
      this.bands.push(band);
      place = band.end;
    }
  }

  // Mean membership of the members of every cluster.
  meanMembership() {
    const sums = new Array(this.sizes.length).fill(0);
    this.labels.forEach((label, member) => { sums[label] += this.membership[member]; });
    return sums.map((sum, cluster) => sum / this.sizes[cluster]);
  }

  tag(cluster) { return `${this.letter}${cluster}`; }

  swatch(cluster) {
    return make("span", {}, make("i", { class: "swatch", style: `background:${this.colours[cluster]}` }), this.tag(cluster));
  }

  members(cluster) { return count(this.sizes[cluster], this.noun); }

  shownAnnotations() { return this.annotations.filter((annotation) => annotation.isShown); }
}
