// What Python packed: base64 of deflated bytes.
async function inflate(text) {
  const raw = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([raw]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Bytes of like meaning lie side by side; the leading ones come last.
async function numbers(packed) {
  const planes = await inflate(packed.data);
  const bytes = new Uint8Array(4 * packed.length);
  for (let plane = 0; plane < packed.kept; plane++) {
    const shift = 4 - packed.kept + plane;
    for (let i = 0; i < packed.length; i++) bytes[4 * i + shift] = planes[plane * packed.length + i];
  }
  return packed.kind === "float32" ? new Float32Array(bytes.buffer) : new Uint32Array(bytes.buffer);
}

async function unpack(data) {
  const about = JSON.parse(new TextDecoder().decode(await inflate(data.text)));
  const side = async (packed, names) => ({
    names,
    order: await numbers(packed.order),
    leaves: await numbers(packed.leaves),
    confidence: packed.confidence ? await numbers(packed.confidence) : null,
  });
  const tiles = { ...data.tiles, values: await numbers(data.tiles.values) };
  if (tiles.doubt) tiles.doubt = await numbers(tiles.doubt);
  return {
    fitted: data.fitted,
    levels: about.levels,
    rows: await side(data.rows, about.rows),
    columns: await side(data.columns, about.columns),
    tiles,
  };
}
