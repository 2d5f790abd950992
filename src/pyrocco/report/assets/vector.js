// Draws as a canvas does, into the text of an SVG picture. Only what the heat map uses.
class VectorPen {
  constructor(width, height) {
    Object.assign(this, { width, height, parts: [], saved: [], steps: "" });
    Object.assign(this, { fillStyle: "#000", strokeStyle: "#000", lineWidth: 1, globalAlpha: 1, font: "12px sans-serif", textAlign: "left" });
    this.ruler = document.createElement("canvas").getContext("2d");
  }

  save() { this.saved.push(this.steps); }
  restore() { this.steps = this.saved.pop(); }
  translate(x, y) { this.steps += ` translate(${round(x)} ${round(y)})`; }
  rotate(angle) { this.steps += ` rotate(${round((180 * angle) / Math.PI)})`; }

  add(tag, attributes, text = null) {
    const all = { ...attributes, ...(this.steps ? { transform: this.steps.trim() } : {}), ...(this.globalAlpha < 1 ? { opacity: this.globalAlpha } : {}) };
    const list = Object.entries(all).map(([name, value]) => ` ${name}="${escapeXml(String(value))}"`).join("");
    this.parts.push(text === null ? `<${tag}${list}/>` : `<${tag}${list}>${escapeXml(text)}</${tag}>`);
  }

  fillRect(x, y, width, height) {
    this.add("rect", { x: round(x), y: round(y), width: round(width), height: round(height), fill: this.fillStyle });
  }

  strokeRect(x, y, width, height) {
    this.add("rect", { x: round(x), y: round(y), width: round(width), height: round(height), fill: "none", stroke: this.strokeStyle, "stroke-width": this.lineWidth });
  }

  measureText(text) {
    this.ruler.font = this.font;
    return this.ruler.measureText(text);
  }

  // Text is vertically centred at y, as on the canvas.
  fillText(text, x, y) {
    const anchor = { left: "start", center: "middle", right: "end" }[this.textAlign];
    const size = parseFloat(this.font.match(/[\d.]+px/)[0]);
    const weight = this.font.startsWith("bold") ? { "font-weight": "bold" } : {};
    this.add("text", { x: round(x), y: round(y + 0.35 * size), "font-size": size, ...weight, "text-anchor": anchor, fill: this.fillStyle }, text);
  }

  placeImage(canvas, x, y, width, height) {
    this.add("image", { x: round(x), y: round(y), width: round(width), height: round(height), preserveAspectRatio: "none", style: "image-rendering:pixelated", href: canvas.toDataURL("image/png") });
  }

  text() {
    const namespace = new DOMParser().parseFromString("<svg></svg>", "text/html").body.firstChild.namespaceURI;
    const root = `xmlns="${namespace}" width="${this.width}" height="${this.height}" viewBox="0 0 ${this.width} ${this.height}" font-family="Helvetica, Arial, sans-serif"`;
    return `<svg ${root}>${this.parts.join("")}</svg>\n`;
  }
}

const round = (number) => Math.round(100 * number) / 100;
const escapeXml = (text) => text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "").replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
