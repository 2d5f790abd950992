// Mouse, touch and keys on the heat map.
class Interaction {
  constructor(map, tip, readout) {
    Object.assign(this, { map, tip, readout });
    this.pointers = new Map();
    this.lastScroll = 0;
    const { canvas } = map;
    canvas.addEventListener("pointerdown", (event) => this.down(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, (event) => this.pointers.delete(event.pointerId));
    canvas.addEventListener("pointerleave", () => { tip.hidden = true; });
    canvas.addEventListener("dblclick", (event) => map.view.zoom(2, this.fraction(event)));
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    canvas.addEventListener("keydown", (event) => this.key(event));
    window.addEventListener("scroll", () => { this.lastScroll = performance.now(); }, { passive: true });
  }

  // Position of an event in the heat map, as fractions of its height and width.
  fraction(event) {
    const box = this.map.canvas.getBoundingClientRect();
    const frame = this.map.frame();
    const within = (fraction) => Math.max(0, Math.min(1, fraction));
    return {
      row: within((event.clientY - box.top - frame.top) / frame.height),
      column: within((event.clientX - box.left - frame.left) / frame.width),
    };
  }

  down(event) {
    this.pointers.set(event.pointerId, event);
    this.map.canvas.setPointerCapture(event.pointerId);
    this.tip.hidden = true;
  }

  move(event) {
    const before = this.pointers.get(event.pointerId);
    if (!before) { this.hover(event); return; }
    const other = [...this.pointers.values()].find((each) => each.pointerId !== event.pointerId);
    if (other) this.pinch(before, event, other);
    else {
      const frame = this.map.frame();
      this.map.view.pan((before.clientY - event.clientY) / frame.height, (before.clientX - event.clientX) / frame.width);
    }
    this.pointers.set(event.pointerId, event);
  }

  pinch(before, event, other) {
    const distance = (one) => Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY) || 1;
    const middle = { clientX: (event.clientX + other.clientX) / 2, clientY: (event.clientY + other.clientY) / 2 };
    this.map.view.zoom(distance(event) / distance(before), this.fraction(middle));
  }

  // While the page is being scrolled, and when the whole matrix is visible, the wheel scrolls the page.
  wheel(event) {
    const { view } = this.map;
    if (performance.now() - this.lastScroll < 300) return;
    if (event.deltaY > 0 && view.isWhole) return;
    event.preventDefault();
    const pixels = event.deltaMode === 1 ? 20 : 1;
    view.zoom(Math.exp(-Math.max(-200, Math.min(200, event.deltaY * pixels)) / 300), this.fraction(event));
    this.hover(event);
  }

  hover(event) {
    const box = this.map.canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const place = this.map.placeAt(x, y);
    this.tip.hidden = !place;
    if (!place) return;
    const lines = this.map.describe(place);
    this.tip.textContent = lines.join("\n");
    this.readout.textContent = lines.join(", ");
    const isRight = x > box.width * 0.6;
    this.tip.style.left = isRight ? "auto" : `${x + 14}px`;
    this.tip.style.right = isRight ? `${box.width - x + 14}px` : "auto";
    this.tip.style.top = `${Math.max(0, y - this.tip.offsetHeight - 10)}px`;
  }

  key(event) {
    const { view } = this.map;
    const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key in steps && event.shiftKey) this.moveCursor(...steps[event.key]);
    else if (event.key in steps) view.pan(...steps[event.key].map((step) => 0.15 * step));
    else if (event.key === "+" || event.key === "=") view.zoom(1.5);
    else if (event.key === "-" || event.key === "_") view.zoom(1 / 1.5);
    else if (event.key === "0") view.reset();
    else if (event.key === "Escape") this.tip.hidden = true;
    else return;
    event.preventDefault();
  }

  // Move by one row or column, or by a few pixels if several share one pixel.
  moveCursor(down, across) {
    const { map } = this;
    const { view } = map;
    const frame = map.frame();
    const middle = (kind) => Math.floor(view.start[kind] + view.length[kind] / 2);
    const cursor = map.cursor || { row: middle("row"), column: middle("column") };
    const step = (kind, extent) => Math.max(1, Math.round((8 * view.length[kind]) / extent));
    const moved = (kind, by, extent) => Math.max(0, Math.min(view.size[kind] - 1, cursor[kind] + by * step(kind, extent)));
    map.cursor = { row: moved("row", down, frame.height), column: moved("column", across, frame.width) };
    this.readout.textContent = map.describe(map.cursor).join(", ");
    map.schedule();
  }
}
