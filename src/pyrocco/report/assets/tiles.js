// The tiles, and the mean of any rectangle of them in four look-ups (from cumulative sums).
class Tiles {
  constructor(tiles) {
    Object.assign(this, tiles);
    [this.down, this.across] = tiles.shape;
    this.isScaled = Boolean(tiles.means); // every column to mean 0 and standard deviation 1
    this.hasMissing = this.values.some(Number.isNaN);
    this.sums = this.totals((i) => (Number.isNaN(this.values[i]) ? 0 : this.values[i]));
    this.known = this.hasMissing ? this.totals((i) => (Number.isNaN(this.values[i]) ? 0 : 1)) : null;
    this.outlierSums = tiles.outliers ? this.totals((i) => tiles.outliers[i] / 255) : null;
    this.palette = new Uint32Array(256);
    for (let i = 0; i < 256; i++) {
      const [red, green, blue] = tiles.colours.slice(3 * i, 3 * i + 3);
      this.palette[i] = 0xff000000 | (blue << 16) | (green << 8) | red;
    }
  }

  totals(value) {
    const width = this.across + 1;
    const sums = new Float64Array((this.down + 1) * width);
    for (let i = 0; i < this.down; i++) {
      let rowSum = 0;
      for (let j = 0; j < this.across; j++) {
        rowSum += value(i * this.across + j);
        sums[(i + 1) * width + j + 1] = sums[i * width + j + 1] + rowSum;
      }
    }
    return sums;
  }

  // Over tiles top..bottom-1 and left..right-1.
  total(sums, top, bottom, left, right) {
    const width = this.across + 1;
    return sums[bottom * width + right] - sums[top * width + right] - sums[bottom * width + left] + sums[top * width + left];
  }

  mean(top, bottom, left, right) {
    const cells = (bottom - top) * (right - left);
    if (cells === 1) return this.values[top * this.across + left];
    const known = this.known ? this.total(this.known, top, bottom, left, right) : cells;
    return known > 0 ? this.total(this.sums, top, bottom, left, right) / known : NaN;
  }

  // Mean of 1 minus the cell weights.
  outlierDegree(top, bottom, left, right) {
    if (!this.outlierSums) return 0;
    return this.total(this.outlierSums, top, bottom, left, right) / ((bottom - top) * (right - left));
  }

  // The mean of what is drawn between places `start` and `end` of rows and of columns.
  meanOf(rows, columns, size) {
    const [top, left] = [Math.floor((rows.start * this.down) / size.row), Math.floor((columns.start * this.across) / size.column)];
    const [bottom, right] = [Math.ceil((rows.end * this.down) / size.row), Math.ceil((columns.end * this.across) / size.column)];
    return this.mean(top, Math.max(bottom, top + 1), left, Math.max(right, left + 1));
  }

  colour(value) {
    const place = Math.round((255 * (value - this.low)) / (this.high - this.low));
    return this.palette[Math.max(0, Math.min(255, place))];
  }

  css(value) {
    const colour = this.colour(value);
    return `rgb(${colour & 255} ${(colour >> 8) & 255} ${(colour >> 16) & 255})`;
  }

  // Whether white text has more contrast with the colour of a value than black text.
  isDark(value) {
    const colour = this.colour(value);
    return needsWhite([0, 8, 16].map((shift) => (colour >> shift) & 255));
  }

  // `downs` and `acrosses` hold the tiles that each row and each column of pixels covers.
  paint(image, downs, acrosses, showOutliers) {
    const pixels = new Uint32Array(image.data.buffer);
    let pixel = 0;
    for (let y = 0; y < image.height; y++) {
      const [top, bottom] = [downs.first[y], downs.after[y]];
      for (let x = 0; x < image.width; x++) {
        const [left, right] = [acrosses.first[x], acrosses.after[x]];
        const value = this.mean(top, bottom, left, right);
        const colour = Number.isNaN(value) ? hatch(x + y) : this.colour(value);
        pixels[pixel++] = showOutliers ? greyed(colour, this.outlierDegree(top, bottom, left, right)) : colour;
      }
    }
  }
}

// Whether white text has more contrast with a colour (red, green, blue, up to 255) than black text.
function needsWhite(colour) {
  const linear = (part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
  const [red, green, blue] = colour.map((part) => linear(part / 255));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.179;
}

const hatch = (place) => (place % 7 < 3 ? 0xff8a8a8a : 0xffd9d9d9);

function greyed(colour, degree) {
  const share = Math.max(0, Math.min(1, 2 * degree - 0.5));
  if (share === 0) return colour;
  const mix = (shift) => Math.round((1 - share) * ((colour >> shift) & 255) + share * 115) << shift;
  return (0xff000000 | mix(16) | mix(8) | mix(0)) >>> 0;
}

// The first tile of every pixel, and the one after its last, for `length` places from `start` on.
function tilesOfPixels(pixels, start, length, size, tiles) {
  const edges = { first: new Int32Array(pixels), after: new Int32Array(pixels) };
  const at = (pixel) => ((start + (pixel / pixels) * length) * tiles) / size;
  const isFine = length * tiles < size * pixels; // several pixels per tile: take their middles
  for (let i = 0; i < pixels; i++) {
    const first = Math.min(tiles - 1, Math.floor(at(i + (isFine ? 0.5 : 0))));
    edges.first[i] = first;
    edges.after[i] = isFine ? first + 1 : Math.min(tiles, Math.max(first + 1, Math.floor(at(i + 1))));
  }
  return edges;
}
