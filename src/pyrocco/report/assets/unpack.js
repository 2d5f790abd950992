// Unpack what page_data.py packed: base64 of compressed bytes.
async function inflate(text) {
  const raw = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([raw]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// The lowest bytes of all numbers come first, then the next, and so on.
async function numbers(packed) {
  const planes = await inflate(packed.data);
  const bytes = new Uint8Array(4 * packed.length);
  for (let plane = 0; plane < packed.bytes; plane++) {
    const shift = 4 - packed.bytes + plane;
    for (let i = 0; i < packed.length; i++) bytes[4 * i + shift] = planes[plane * packed.length + i];
  }
  return packed.kind === "float32" ? new Float32Array(bytes.buffer) : new Uint32Array(bytes.buffer);
}

async function unpack(data) {
  const text = JSON.parse(new TextDecoder().decode(await inflate(data.text)));
  const side = async (packed, names, annotations) => ({
    names,
    colours: packed.colours,
    annotations: await Promise.all(annotations.map(async (about, k) => new Annotation(about, await numbers(packed.annotations[k]), k))),
    order: await numbers(packed.order),
    leaves: await numbers(packed.leaves),
    membership: packed.membership ? await numbers(packed.membership) : null,
  });
  const tiles = { ...data.tiles, values: await numbers(data.tiles.values) };
  for (const scale of ["means", "deviations"]) if (tiles[scale]) tiles[scale] = await numbers(tiles[scale]);
  if (tiles.outliers) tiles.outliers = await numbers(tiles.outliers);
  return {
    fitted: data.fitted,
    levels: text.levels,
    words: text.words,
    rows: await side(data.rows, text.rows, text.annotations[0]),
    columns: await side(data.columns, text.columns, text.annotations[1]),
    tiles,
  };
}
