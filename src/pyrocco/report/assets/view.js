// The rows and columns that are visible. Places count from 0 in the sorted matrix.
const FEWEST = 4;

class View {
  constructor(rows, columns) {
    this.size = { row: rows, column: columns };
    this.changed = () => {};
    this.reset();
  }

  reset() {
    this.start = { row: 0, column: 0 };
    this.length = { ...this.size };
    this.changed();
  }

  get isWhole() {
    return this.length.row === this.size.row && this.length.column === this.size.column;
  }

  // `at` is the point that stays in place, as fractions of the height and width.
  zoom(factor, at = { row: 0.5, column: 0.5 }) {
    for (const kind of ["row", "column"]) {
      const fixed = this.start[kind] + at[kind] * this.length[kind];
      const length = Math.max(Math.min(FEWEST, this.size[kind]), this.length[kind] / factor);
      this.set(kind, fixed - at[kind] * length, length);
    }
    this.changed();
  }

  // Move by fractions of the visible part.
  pan(down, across) {
    this.set("row", this.start.row + down * this.length.row, this.length.row);
    this.set("column", this.start.column + across * this.length.column, this.length.column);
    this.changed();
  }

  // Show places start..end-1 of rows or columns, with a small margin.
  show(kind, start, end) {
    const length = Math.max(Math.min(FEWEST, this.size[kind]), 1.1 * (end - start));
    this.set(kind, (start + end) / 2 - length / 2, length);
    this.changed();
  }

  // Show one row or column, large enough to read its name.
  goTo(kind, place) {
    const length = Math.min(this.length[kind], 24);
    this.set(kind, place + 0.5 - length / 2, length);
    this.changed();
  }

  set(kind, start, length) {
    this.length[kind] = Math.min(length, this.size[kind]);
    this.start[kind] = Math.max(0, Math.min(start, this.size[kind] - this.length[kind]));
  }

  // `nouns` say what a row and a column are called.
  text(nouns) {
    const part = (kind) => {
      const first = Math.floor(this.start[kind]) + 1;
      const last = Math.min(this.size[kind], Math.ceil(this.start[kind] + this.length[kind] - 1e-6));
      return `${nouns[kind]}s ${first.toLocaleString("en")}–${last.toLocaleString("en")} of ${this.size[kind].toLocaleString("en")}`;
    };
    return `${part("row")}, ${part("column")}`;
  }
}
