// Draws the heat map with the bars, borders and names of the clusters around it.
const BAR = 10;
const UPRIGHT = 110; // names of columns narrower than this are vertical
const LEAST_TEXT = 11; // pixels a row or column needs for its name

class HeatMap {
  constructor(canvas, tiles, rows, columns) {
    Object.assign(this, { canvas, tiles, rows, columns });
    this.view = new View(rows.size, columns.size);
    this.view.changed = () => this.schedule();
    this.showOutliers = Boolean(tiles.outlierSums);
    this.cursor = null; // { row, column } places
    this.drawn = () => {};
    this.pending = false;
    new ResizeObserver(() => this.schedule()).observe(canvas);
  }

  // Draw at most once per frame.
  schedule() {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => { this.pending = false; this.draw(); });
  }

  // Position of the matrix on the canvas, in CSS pixels.
  frame() {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    const isNarrow = width < 560;
    const left = isNarrow ? 64 : 150;
    const top = 18 + BAR;
    const inner = Math.max(1, width - left - 4);
    const column = inner / this.view.length.column; // pixels per column
    const below = column < LEAST_TEXT || column >= UPRIGHT ? 26 : isNarrow ? 64 : 116;
    return { left, top, width: inner, height: Math.max(1, height - top - below) };
  }

  draw() {
    const { canvas } = this;
    if (!canvas.clientWidth) return;
    const ratio = window.devicePixelRatio || 1;
    canvas.width = Math.round(canvas.clientWidth * ratio);
    canvas.height = Math.round(canvas.clientHeight * ratio);
    const pen = canvas.getContext("2d");
    const frame = this.frame();
    this.paint(pen, frame, ratio);
    pen.scale(ratio, ratio);
    this.ink = getComputedStyle(canvas).color;
    for (const side of [this.rows, this.columns]) {
      this.drawLines(pen, frame, side);
      this.drawBands(pen, frame, side);
      this.drawNames(pen, frame, side);
    }
    if (this.cursor) this.drawCursor(pen, frame);
    canvas.style.touchAction = this.view.isWhole ? "pan-y" : "none"; // if all is visible, a finger scrolls the page
    this.drawn(this.view);
  }

  paint(pen, frame, ratio) {
    const { view, tiles } = this;
    const width = Math.max(1, Math.round(frame.width * ratio));
    const height = Math.max(1, Math.round(frame.height * ratio));
    const image = pen.createImageData(width, height);
    const downs = tilesOfPixels(height, view.start.row, view.length.row, view.size.row, tiles.down);
    const acrosses = tilesOfPixels(width, view.start.column, view.length.column, view.size.column, tiles.across);
    tiles.paint(image, downs, acrosses, this.showOutliers);
    pen.putImageData(image, Math.round(frame.left * ratio), Math.round(frame.top * ratio));
  }

  // Pixels from the upper left corner of the matrix to a place.
  pixel(frame, kind, place) {
    const extent = kind === "row" ? frame.height : frame.width;
    return ((place - this.view.start[kind]) / this.view.length[kind]) * extent;
  }

  // Visible clusters, with their first and last pixel.
  visibleBands(frame, side) {
    const extent = side.kind === "row" ? frame.height : frame.width;
    return side.bands
      .map((band) => ({ ...band, from: this.pixel(frame, side.kind, band.start), to: this.pixel(frame, side.kind, band.end) }))
      .filter((band) => band.to > 0 && band.from < extent)
      .map((band) => ({ ...band, inner: band.from > 0, from: Math.max(0, band.from), to: Math.min(extent, band.to) }));
  }

  drawLines(pen, frame, side) {
    pen.fillStyle = this.tiles.border;
    for (const band of this.visibleBands(frame, side)) {
      if (!band.inner || band.to - band.from < 3) continue; // a line would hide what it frames
      if (side.kind === "row") pen.fillRect(frame.left, frame.top + band.from - 0.5, frame.width, 1);
      else pen.fillRect(frame.left + band.from - 0.5, frame.top, 1, frame.height);
    }
  }

  drawBands(pen, frame, side) {
    pen.font = "12px system-ui, sans-serif";
    pen.textBaseline = "middle";
    pen.textAlign = side.kind === "row" ? "right" : "center";
    const showTags = side.kind === "column" || !this.namesFit(frame, side);
    for (const { cluster, from, to } of this.visibleBands(frame, side)) {
      pen.fillStyle = side.colours[cluster];
      if (side.kind === "row") pen.fillRect(frame.left - BAR - 2, frame.top + from, BAR, Math.max(0.5, to - from - 1));
      else pen.fillRect(frame.left + from, frame.top - BAR - 2, Math.max(0.5, to - from - 1), BAR);
      const room = side.kind === "row" ? 13 : 9 * side.tag(cluster).length;
      if (!showTags || to - from < room) continue;
      pen.fillStyle = this.ink;
      if (side.kind === "row") pen.fillText(this.bandText(frame, side, cluster), frame.left - BAR - 8, frame.top + (from + to) / 2);
      else pen.fillText(side.tag(cluster), frame.left + (from + to) / 2, frame.top - BAR - 10);
    }
  }

  bandText(frame, side, cluster) {
    return frame.left > 100 ? `${side.tag(cluster)} · ${side.sizes[cluster].toLocaleString("en")}` : side.tag(cluster);
  }

  namesFit(frame, side) {
    const extent = side.kind === "row" ? frame.height : frame.width;
    return extent / this.view.length[side.kind] >= LEAST_TEXT;
  }

  drawNames(pen, frame, side) {
    const isRow = side.kind === "row";
    pen.fillStyle = this.ink;
    pen.font = "11px system-ui, sans-serif";
    if (!this.namesFit(frame, side)) {
      if (!isRow) this.drawHint(pen, frame);
      return;
    }
    const isUpright = !isRow && frame.width / this.view.length.column < UPRIGHT;
    const below = this.canvas.clientHeight - frame.top - frame.height - 8;
    const room = isRow ? frame.left - BAR - 12 : isUpright ? below : frame.width / this.view.length.column - 8;
    const first = Math.max(0, Math.floor(this.view.start[side.kind]));
    const after = Math.min(side.size, Math.ceil(this.view.start[side.kind] + this.view.length[side.kind]));
    pen.textAlign = isRow || isUpright ? "right" : "center";
    for (let place = first; place < after; place++) {
      const middle = this.pixel(frame, side.kind, place + 0.5);
      if (middle < 0 || middle > (isRow ? frame.height : frame.width)) continue;
      const name = shorten(pen, side.names[side.order[place]], room);
      pen.save();
      if (isRow) pen.translate(frame.left - BAR - 8, frame.top + middle);
      else {
        pen.translate(frame.left + middle, frame.top + frame.height + (isUpright ? 5 : 12));
        if (isUpright) pen.rotate(-Math.PI / 2);
      }
      pen.fillText(name, 0, 0);
      pen.restore();
    }
  }

  drawHint(pen, frame) {
    pen.globalAlpha = 0.7;
    pen.textAlign = "center";
    pen.fillText("names appear as you zoom in", frame.left + frame.width / 2, frame.top + frame.height + 14);
    pen.globalAlpha = 1;
  }

  drawCursor(pen, frame) {
    const x = this.pixel(frame, "column", this.cursor.column + 0.5);
    const y = this.pixel(frame, "row", this.cursor.row + 0.5);
    if (x < 0 || y < 0 || x > frame.width || y > frame.height) return;
    for (const [width, colour] of [[3, "#ffffff"], [1.2, "#000000"]]) {
      pen.strokeStyle = colour;
      pen.lineWidth = width;
      pen.strokeRect(frame.left + x - 6, frame.top + y - 6, 12, 12);
    }
  }

  // The cell at a point of the canvas (CSS pixels), or null outside the matrix.
  placeAt(x, y) {
    const frame = this.frame();
    const down = (y - frame.top) / frame.height;
    const across = (x - frame.left) / frame.width;
    if (down < 0 || across < 0 || down >= 1 || across >= 1) return null;
    const place = (kind, share) => Math.min(this.view.size[kind] - 1, Math.floor(this.view.start[kind] + share * this.view.length[kind]));
    return { row: place("row", down), column: place("column", across) };
  }

  // Description of a cell: its row, its column, its value and, if it is low, its weight.
  describe({ row, column }) {
    const down = tileOf(row, this.rows.size, this.tiles.down);
    const across = tileOf(column, this.columns.size, this.tiles.across);
    const at = [down.tile, down.tile + 1, across.tile, across.tile + 1];
    const value = this.tiles.mean(...at);
    const cells = (down.after - down.first) * (across.after - across.first);
    const amount = Number.isNaN(value) ? "missing" : digits(value * this.tiles.unit);
    const weight = 1 - this.tiles.outlierDegree(...at);
    return [
      this.describePlace(this.rows, row, down),
      this.describePlace(this.columns, column, across),
      `${cells > 1 ? "mean" : "value"}: ${amount}`,
      ...(weight < 0.98 ? [`${cells > 1 ? "mean weight" : "weight"}: ${percent(weight)}`] : []),
    ];
  }

  describePlace(side, place, { first, after }) {
    const name = (at) => side.names[side.order[at]];
    const names = after - first > 1 ? `${after - first} ${side.kind}s ${name(first)} … ${name(after - 1)}` : `${side.kind} ${name(place)}`;
    return `${names} (${side.tag(side.labels[side.order[place]])})`;
  }
}

// The tile that contains a place, and the places of that tile.
function tileOf(place, size, tiles) {
  const tile = Math.floor((place * tiles) / size);
  return { tile, first: Math.ceil((tile * size) / tiles), after: Math.ceil(((tile + 1) * size) / tiles) };
}

function shorten(pen, name, room) {
  if (pen.measureText(name).width <= room) return name;
  let length = Math.min(name.length, 40);
  while (length > 1 && pen.measureText(`${name.slice(0, length)}…`).width > room) length--;
  return `${name.slice(0, length)}…`;
}
