// Small helpers for the document. Text goes in as text, never as HTML.
const find = (id) => document.getElementById(id);

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") element.style.cssText = value;
    else if (value !== false && value !== null) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children);
  return element;
}

const count = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;

// A number with a few digits and a typographic minus sign.
function digits(number, places = 4) {
  if (number === null || number === undefined || Number.isNaN(number)) return "–";
  const size = Math.abs(number);
  if (size > 1e99) return number > 0 ? "∞" : "−∞";
  const text = size !== 0 && (size < 1e-3 || size >= 1e6) ? number.toExponential(Math.min(2, places - 1)) : String(Number(number.toPrecision(places)));
  return text.replaceAll("-", "−");
}

const percent = (share) => `${Math.round(100 * share)}\u00a0%`;

const capital = (text) => text[0].toUpperCase() + text.slice(1);

function download(name, content, type = "text/csv;charset=utf-8") {
  const address = URL.createObjectURL(new Blob([content], { type }));
  make("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

// A spreadsheet program would run such a text as a formula; the files of results escape it in the same way.
const isFormula = (text) => /^[=+\-@\t\r]/.test(text) && !Number.isFinite(Number(text));

function csvCell(text) {
  const safe = isFormula(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
