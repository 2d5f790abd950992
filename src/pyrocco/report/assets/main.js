// Start the page.
const MOST_SUGGESTIONS = 30;

function setUpTheme() {
  const button = find("theme");
  const remembered = () => { try { return localStorage.getItem("pyrocco-theme"); } catch { return null; } };
  const remember = (theme) => { try { localStorage.setItem("pyrocco-theme", theme); } catch { /* local files may not be allowed to */ } };
  const prefers = window.matchMedia("(prefers-color-scheme: dark)");
  const set = (theme) => {
    document.documentElement.dataset.theme = theme;
    button.setAttribute("aria-pressed", String(theme === "dark"));
    button.textContent = theme === "dark" ? "Light" : "Dark";
    button.setAttribute("aria-label", theme === "dark" ? "Use light colours" : "Use dark colours");
    document.dispatchEvent(new Event("theme"));
  };
  const current = () => document.documentElement.dataset.theme;
  set(remembered() || (prefers.matches ? "dark" : "light"));
  prefers.addEventListener("change", () => { if (!remembered()) set(prefers.matches ? "dark" : "light"); });
  button.addEventListener("click", () => { set(current() === "dark" ? "light" : "dark"); remember(current()); });
  return { set, current };
}

function setUpLegend(map, entry) {
  const { tiles } = map;
  const pen = find("legend").getContext("2d");
  const image = pen.createImageData(256, 1);
  new Uint32Array(image.data.buffer).set(tiles.palette);
  pen.putImageData(image, 0, 0);
  find("legend-low").textContent = digits(tiles.low * tiles.unit);
  find("legend-high").textContent = digits(tiles.high * tiles.unit);
  find("legend-missing").hidden = !tiles.hasMissing;
  find("outliers-choice").hidden = !tiles.outlierSums;
  find("outliers").addEventListener("change", (event) => { map.showOutliers = event.target.checked; map.schedule(); });
  const [down, across] = [map.rows.size / tiles.down, map.columns.size / tiles.across];
  const scaled = tiles.isScaled ? `The ${map.columns.noun}s have different units: the colours show each of them scaled to mean 0 and standard deviation 1. ` : "";
  find("tile-text").textContent = scaled + (down > 1 || across > 1
    ? `The matrix is large: even at the highest zoom, each tile of the heat map is the mean of ${Number.isInteger(down) && Number.isInteger(across) ? "" : "about "}${digits(down, 2)} x ${digits(across, 2)} ${entry}s.`
    : "");
}

function setUpFinding(map, goTo) {
  const box = find("find");
  const sides = [map.rows, map.columns];
  const names = find("find-names");
  box.addEventListener("input", () => {
    const part = box.value.trim().toLowerCase();
    const matches = [];
    for (const side of sides) {
      for (let i = 0; part && i < side.size && matches.length < MOST_SUGGESTIONS; i++) if (side.lower[i].includes(part)) matches.push(side.names[i]);
    }
    names.replaceChildren(...matches.map((name) => make("option", { value: name })));
  });
  box.addEventListener("change", () => {
    const part = box.value.trim().toLowerCase();
    if (!part) return;
    for (const test of [(name) => name === part, (name) => name.startsWith(part), (name) => name.includes(part)]) {
      for (const side of sides) {
        const member = side.lower.findIndex(test);
        if (member >= 0) { goTo(side.kind, side.place[member]); return; }
      }
    }
    find("readout").textContent = `No ${map.rows.noun} or ${map.columns.noun} is named ${box.value.trim()}.`;
  });
}

function setUpMap(map, entry) {
  const nouns = { row: map.rows.noun, column: map.columns.noun };
  map.drawn = (view) => { find("view-text").textContent = view.text(nouns); };
  find("zoom-in").addEventListener("click", () => map.view.zoom(1.5));
  find("zoom-out").addEventListener("click", () => map.view.zoom(1 / 1.5));
  find("zoom-reset").addEventListener("click", () => map.view.reset());
  find("save-png").addEventListener("click", () => savePng(map, "heatmap.png"));
  find("save-svg").addEventListener("click", () => saveSvg(map, "heatmap.svg"));
  document.addEventListener("theme", () => map.draw()); // at once, because printing does not wait
  setUpLegend(map, entry);
  return new Interaction(map, find("tip"), find("readout"));
}

// Tracks, filters and cross-tables of the sides that have annotations.
function setUpAnnotations(map, tables) {
  const redraw = () => map.schedule();
  const annotated = [map.rows, map.columns].filter((side) => side.annotations.length);
  find("annotation-legend").append(...annotated.flatMap((side) => annotationLegend(side, redraw)));
  find("filters").hidden = annotated.length === 0;
  if (annotated.length) find("members-tables").classList.add("wide-tables");
  for (const side of annotated) new Filter(find("filters"), side, () => { tables.get(side).restart(); redraw(); });
  return annotated.map((side) => new CrossTables(find(`${side.kind}-crosstables`), side));
}

// Functions that bring a reader from one part of the page to another.
function journeys(map, tables) {
  const toMap = () => find("map").scrollIntoView();
  return {
    goTo: (kind, place) => {
      map.view.goTo(kind, place);
      const middle = (other) => Math.floor(map.view.start[other] + map.view.length[other] / 2);
      map.cursor = { row: middle("row"), column: middle("column"), [kind]: place };
      find("readout").textContent = map.describe(map.cursor).join(", ");
      toMap();
    },
    show: (row, column) => {
      for (const [side, cluster] of [[map.rows, row], [map.columns, column]]) {
        const band = side.bands.find((each) => each.cluster === cluster);
        map.view.show(side.kind, band.start, band.end);
      }
      toMap();
    },
    list: (side, cluster) => { tables.get(side).choose(cluster); tables.get(side).root.scrollIntoView(); },
  };
}

function start(data, theme) {
  const rows = new Side("row", data.words[0], data.rows);
  const columns = new Side("column", data.words[1], data.columns);
  const map = new HeatMap(find("heatmap"), new Tiles(data.tiles), rows, columns);
  const tables = new Map();
  const actions = journeys(map, tables);
  for (const side of [rows, columns]) tables.set(side, new Members(find(`${side.kind}s-table`), side, actions.goTo));
  setUpMap(map, data.words[2]);
  const crossTables = setUpAnnotations(map, tables);
  const places = { grid: find("grid"), block: find("block"), cards: find("cluster-cards"), caution: find("caution") };
  const blocks = new Blocks(places, map.tiles, rows, columns, actions);
  setUpFinding(map, actions.goTo);
  let level = null;
  setUpLevels(data, [rows, columns], ([i, j]) => {
    rows.setLevel(data.levels.rows[i]);
    columns.setLevel(data.levels.columns[j]);
    level = new Level(data.levels, [i, j], rows, columns);
    blocks.refresh(level);
    for (const part of [...tables.values(), ...crossTables]) part.refresh();
    map.schedule();
  });
  find("explanation-download").hidden = !level.hasStatistics;
  find("explanation-download").addEventListener("click", () => download("explanation.csv", explanationText(level, rows, columns)));
  setUpPrinting(theme, [...tables.values(), blocks]);
}

const theme = setUpTheme();
const loaded = () => { find("loading").hidden = true; };
if (typeof DecompressionStream === "undefined") {
  loaded();
  find("trouble").hidden = false;
  find("trouble").textContent = "This browser is too old to show the heat map and the tables. They need Chrome or Edge 103, Firefox 113, Safari 16.4, or a newer version.";
} else {
  unpack(JSON.parse(find("data").textContent))
    .then((data) => { start(data, theme); loaded(); document.documentElement.dataset.ready = "yes"; })
    .catch((error) => {
      loaded();
      find("trouble").hidden = false;
      find("trouble").textContent = `The data in this file could not be read (${error.message}). The file may be incomplete: regenerate it with pyrocco report.`;
    });
}
