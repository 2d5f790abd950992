// Draws the heat map with bars, borders and names of the clusters and tracks of annotations around it.
const BAR = 10;
const TRACK = 11; // as wide as a name below it is high
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

  // Position of the matrix on a canvas of this size, in CSS pixels. From outside in: bars of the
  // clusters, tracks of the annotations, names.
  frame(width = this.canvas.clientWidth, height = this.canvas.clientHeight) {
    const isNarrow = width < 560;
    const across = extentOf(this.rows.shownAnnotations());
    const down = extentOf(this.columns.shownAnnotations());
    const room = isNarrow ? 54 : 140; // for the names of rows
    const left = room + BAR + across;
    const top = 18 + BAR + down;
    const inner = Math.max(1, width - left - 4);
    const column = inner / this.view.length.column; // pixels per column
    const least = across ? 72 : 26; // the names of the tracks of rows are below them
    const below = Math.max(least, column < LEAST_TEXT || column >= UPRIGHT ? 26 : isNarrow ? 64 : 116);
    return { left, top, width: inner, height: Math.max(1, height - top - below), below, across, down, room };
  }

  draw() {
    const { canvas } = this;
    if (!canvas.clientWidth) return;
    const ratio = window.devicePixelRatio || 1;
    canvas.width = Math.round(canvas.clientWidth * ratio);
    canvas.height = Math.round(canvas.clientHeight * ratio);
    const pen = canvas.getContext("2d");
    const frame = this.frame();
    const image = this.image(frame, ratio);
    pen.drawImage(image, Math.round(frame.left * ratio), Math.round(frame.top * ratio));
    pen.scale(ratio, ratio);
    const style = getComputedStyle(canvas);
    this.drawAround(pen, frame, { ink: style.color, paper: style.backgroundColor }, true);
    canvas.style.touchAction = this.view.isWhole ? "pan-y" : "none"; // if all is visible, a finger scrolls the page
    this.drawn(this.view);
  }

  // Draw everything but the values.
  drawAround(pen, frame, look, isScreen) {
    this.ink = look.ink;
    for (const side of [this.rows, this.columns]) {
      this.fade(pen, frame, side, look.paper);
      this.drawLines(pen, frame, side);
      this.drawBands(pen, frame, side);
      this.drawTracks(pen, frame, side);
      this.drawNames(pen, frame, side, isScreen);
    }
    if (this.cursor && isScreen) this.drawCursor(pen, frame);
  }

  // The values, as many pixels as the frame has.
  image(frame, ratio) {
    const { view, tiles } = this;
    const canvas = make("canvas");
    canvas.width = Math.max(1, Math.round(frame.width * ratio));
    canvas.height = Math.max(1, Math.round(frame.height * ratio));
    const pen = canvas.getContext("2d");
    const image = pen.createImageData(canvas.width, canvas.height);
    const downs = tilesOfPixels(canvas.height, view.start.row, view.length.row, view.size.row, tiles.down);
    const acrosses = tilesOfPixels(canvas.width, view.start.column, view.length.column, view.size.column, tiles.across);
    tiles.paint(image, downs, acrosses, this.showOutliers);
    pen.putImageData(image, 0, 0);
    return canvas;
  }

  // Neighbouring rows (columns) for which a function of the member has the same value, in pixels.
  runs(frame, side, valueOf) {
    const isRow = side.kind === "row";
    const extent = isRow ? frame.height : frame.width;
    const [start, length] = [this.view.start[side.kind], this.view.length[side.kind]];
    const steps = Math.ceil(Math.min(extent, length + 1)); // no more than pixels, no more than members
    const found = [];
    const add = (place, from, to) => {
      const value = valueOf(side.order[Math.max(0, Math.min(side.size - 1, Math.floor(place)))]);
      const last = found.at(-1);
      if (last && last.value === value) last.to = to;
      else found.push({ value, from, to });
    };
    if (steps < extent) {
      for (let place = Math.floor(start); place < start + length; place++) add(place, Math.max(0, this.pixel(frame, side.kind, place)), Math.min(extent, this.pixel(frame, side.kind, place + 1)));
    } else for (let pixel = 0; pixel < extent; pixel++) add(start + ((pixel + 0.5) / extent) * length, pixel, Math.min(extent, pixel + 1));
    return found;
  }

  // Cover the rows or columns that a filter leaves out.
  fade(pen, frame, side, paper) {
    if (!side.filter) return;
    pen.fillStyle = paper;
    pen.globalAlpha = 0.85;
    for (const { value, from, to } of this.runs(frame, side, (member) => side.filter[member])) {
      if (value) continue;
      if (side.kind === "row") pen.fillRect(frame.left, frame.top + from, frame.width, to - from);
      else pen.fillRect(frame.left + from, frame.top, to - from, frame.height);
    }
    pen.globalAlpha = 1;
  }

  drawTracks(pen, frame, side) {
    const isRow = side.kind === "row";
    pen.font = "10px system-ui, sans-serif";
    pen.textBaseline = "middle";
    pen.textAlign = "right";
    side.shownAnnotations().forEach((annotation, k) => {
      const first = (isRow ? frame.left - frame.across : frame.top - frame.down) - BAR - 2 + k * (TRACK + 1);
      for (const { value, from, to } of this.runs(frame, side, (member) => annotation.colour(member))) {
        pen.fillStyle = value;
        if (isRow) pen.fillRect(first, frame.top + from, TRACK, to - from);
        else pen.fillRect(frame.left + from, first, to - from, TRACK);
      }
      pen.fillStyle = this.ink;
      pen.save();
      if (isRow) {
        pen.translate(first + TRACK / 2, frame.top + frame.height + 5);
        pen.rotate(-Math.PI / 2);
      } else pen.translate(frame.left - BAR - 8 - frame.across, first + TRACK / 2);
      pen.fillText(shorten(pen, annotation.name, isRow ? frame.below - 10 : frame.room - 8), 0, 0);
      pen.restore();
    });
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
      const room = side.kind === "row" && showTags ? 13 : 9 * side.tag(cluster).length;
      if (to - from < room) continue;
      if (!showTags) {
        this.drawTagInBar(pen, frame, side, cluster, (from + to) / 2);
        continue;
      }
      pen.fillStyle = this.ink;
      if (side.kind === "row") pen.fillText(this.bandText(frame, side, cluster), frame.left - BAR - 8 - frame.across, frame.top + (from + to) / 2);
      else pen.fillText(side.tag(cluster), frame.left + (from + to) / 2, frame.top - BAR - 10 - frame.down);
    }
  }

  // Beside names of rows there is no room for that of their cluster but in its bar.
  drawTagInBar(pen, frame, side, cluster, middle) {
    pen.save();
    const parts = [1, 3, 5].map((start) => parseInt(side.colours[cluster].slice(start, start + 2), 16));
    pen.fillStyle = needsWhite(parts) ? "#fff" : "#000";
    pen.font = "bold 9px system-ui, sans-serif";
    pen.textAlign = "center";
    pen.translate(frame.left - BAR / 2 - 2, frame.top + middle);
    pen.rotate(-Math.PI / 2);
    pen.fillText(side.tag(cluster), 0, 0.5);
    pen.restore();
    pen.font = "12px system-ui, sans-serif"; // a picture in SVG restores places only
    pen.textAlign = "right";
  }

  bandText(frame, side, cluster) {
    return frame.room > 100 ? `${side.tag(cluster)} · ${side.sizes[cluster].toLocaleString("en")}` : side.tag(cluster);
  }

  namesFit(frame, side) {
    const extent = side.kind === "row" ? frame.height : frame.width;
    return extent / this.view.length[side.kind] >= LEAST_TEXT;
  }

  drawNames(pen, frame, side, isScreen) {
    const isRow = side.kind === "row";
    pen.fillStyle = this.ink;
    pen.font = "11px system-ui, sans-serif";
    if (!this.namesFit(frame, side)) {
      if (!isRow && isScreen) this.drawHint(pen, frame);
      return;
    }
    const isUpright = !isRow && frame.width / this.view.length.column < UPRIGHT;
    const room = isRow ? frame.room - 8 : isUpright ? frame.below - 8 : frame.width / this.view.length.column - 8;
    const first = Math.max(0, Math.floor(this.view.start[side.kind]));
    const after = Math.min(side.size, Math.ceil(this.view.start[side.kind] + this.view.length[side.kind]));
    pen.textAlign = isRow || isUpright ? "right" : "center";
    for (let place = first; place < after; place++) {
      const middle = this.pixel(frame, side.kind, place + 0.5);
      if (middle < 0 || middle > (isRow ? frame.height : frame.width)) continue;
      const name = shorten(pen, side.names[side.order[place]], room);
      pen.save();
      if (isRow) pen.translate(frame.left - BAR - 8 - frame.across, frame.top + middle);
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
    const amount = Number.isNaN(value) ? "missing" : this.amount(value, this.columns.order[column], across);
    const weight = 1 - this.tiles.outlierDegree(...at);
    return [
      this.describePlace(this.rows, row, down),
      ...annotationsAt(this.rows, row, down),
      this.describePlace(this.columns, column, across),
      ...annotationsAt(this.columns, column, across),
      `${cells > 1 ? "mean" : "value"}: ${amount}`,
      ...(weight < 0.98 ? [`${cells > 1 ? "mean weight" : "weight"}: ${percent(weight)}`] : []),
    ];
  }

  // The value of a tile; of scaled columns the value in their own unit too, if the tile has one column.
  amount(value, member, { first, after }) {
    const { tiles } = this;
    if (!tiles.isScaled) return digits(value * tiles.unit);
    const scaled = `${digits(value * tiles.unit, 3)} standard deviations from the mean`;
    return after - first > 1 ? scaled : `${digits(value * tiles.unit * tiles.deviations[member] + tiles.means[member])} (${scaled})`;
  }

  describePlace(side, place, { first, after }) {
    const name = (at) => side.names[side.order[at]];
    const names = after - first > 1 ? `${after - first} ${side.noun}s ${name(first)} … ${name(after - 1)}` : `${side.noun} ${name(place)}`;
    return `${names} (${side.tag(side.labels[side.order[place]])})`;
  }
}

// Pixels that the tracks of some annotations need.
const extentOf = (annotations) => (annotations.length ? annotations.length * (TRACK + 1) + 2 : 0);

// The annotations of a row or column; none if a tile has several.
function annotationsAt(side, place, { first, after }) {
  if (after - first > 1) return [];
  return side.annotations.map((annotation) => `${annotation.name}: ${annotation.text(side.order[place])}`);
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
