// The visible part of the heat map as a file, with the legends below it, on white.
const PICTURE = { ink: "#1b2733", paper: "#ffffff" };
const DENSITY = 3; // pixels of the picture for one of the screen
const LEGEND_LINE = 20;

function savePng(map, name) {
  const size = pictureSize(map);
  const canvas = make("canvas");
  canvas.width = Math.round(size.width * DENSITY);
  canvas.height = Math.round(size.height * DENSITY);
  const pen = canvas.getContext("2d");
  pen.placeImage = (image, x, y, width, height) => { pen.imageSmoothingEnabled = false; pen.drawImage(image, x, y, width, height); };
  pen.scale(DENSITY, DENSITY);
  drawPicture(map, pen, size);
  canvas.toBlob((blob) => download(name, blob, "image/png"));
}

function saveSvg(map, name) {
  const size = pictureSize(map);
  const pen = new VectorPen(size.width, size.height);
  drawPicture(map, pen, size);
  download(name, pen.text(), "image/svg+xml");
}

function pictureSize(map) {
  const width = Math.max(640, map.canvas.clientWidth);
  const mapHeight = Math.max(360, map.canvas.clientHeight);
  const ruler = document.createElement("canvas").getContext("2d");
  return { width, mapHeight, height: mapHeight + legendRows(map, ruler, width).length * LEGEND_LINE + 10 };
}

function drawPicture(map, pen, { width, height, mapHeight }) {
  pen.fillStyle = PICTURE.paper;
  pen.fillRect(0, 0, width, height);
  const frame = map.frame(width, mapHeight);
  pen.placeImage(map.image(frame, DENSITY), frame.left, frame.top, frame.width, frame.height);
  map.drawAround(pen, frame, PICTURE, false);
  legendRows(map, pen, width).forEach((row, k) => drawLegendRow(map, pen, row, mapHeight + (k + 0.5) * LEGEND_LINE));
}

// What the legends say, broken into lines: the values, then each annotation that is drawn.
function legendRows(map, pen, width) {
  pen.font = "11px system-ui, sans-serif";
  const { tiles } = map;
  const ends = [tiles.low, tiles.high].map((value) => digits(value * tiles.unit));
  const entries = [[{ text: tiles.isScaled ? `z-score by ${map.columns.noun}` : "value", bold: true }, { ramp: rampOf(tiles), ends }]];
  for (const annotation of [...map.rows.shownAnnotations(), ...map.columns.shownAnnotations()]) {
    const keys = annotation.isNumber
      ? [{ ramp: annotation.colours, ends: annotation.ends }]
      : annotation.categories.map((text, k) => ({ text, colour: annotation.colours[k] }));
    entries.push([{ text: annotation.name, bold: true }, ...keys, ...(annotation.hasMissing ? [{ text: "missing", colour: MISSING }] : [])]);
  }
  return entries.flatMap((entry) => brokenLines(entry, pen, width - 20));
}

function brokenLines(entry, pen, room) {
  const lines = [[]];
  let x = 0;
  for (const part of entry) {
    const text = part.ramp ? part.ends.join("") : (part.text = shorten(pen, part.text, 200));
    const length = pen.measureText(text).width + (part.ramp ? 130 : part.colour ? 32 : 14);
    if (x + length > room && lines.at(-1).length) { lines.push([]); x = 20; }
    lines.at(-1).push({ ...part, x: x + 10 });
    x += length;
  }
  return lines;
}

const rampOf = (tiles) => Array.from({ length: 64 }, (_, k) => tiles.css(tiles.low + ((k + 0.5) / 64) * (tiles.high - tiles.low)));

function drawLegendRow(map, pen, row, y) {
  pen.textBaseline = "middle";
  pen.textAlign = "left";
  for (const part of row) {
    pen.font = `${part.bold ? "bold " : ""}11px system-ui, sans-serif`;
    pen.fillStyle = PICTURE.ink;
    if (part.ramp) drawRamp(pen, part, y);
    else pen.fillText(part.text, part.x + (part.colour ? 15 : 0), y);
    if (!part.colour) continue;
    pen.fillStyle = part.colour;
    pen.fillRect(part.x, y - 5, 10, 10);
  }
}

function drawRamp(pen, { ramp, ends, x }, y) {
  pen.fillText(ends[0], x, y);
  const start = x + pen.measureText(ends[0]).width + 6;
  ramp.forEach((colour, k) => { pen.fillStyle = colour; pen.fillRect(start + (100 * k) / ramp.length, y - 5, 100 / ramp.length + 0.3, 10); });
  pen.fillStyle = PICTURE.ink;
  pen.fillText(ends[1], start + 106, y);
}
