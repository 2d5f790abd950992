"use strict";
// One page from a file to its clusters. Text goes in as text, never as HTML.
(() => {
  const state = { file: null, applies: [], columns: [], tables: [], fit: null, wanted: 0, timer: 0, about: null };
  const form = find("reading-form");
  const field = (name) => form.elements.namedItem(name);
  const COLUMNS_SHOWN = 60;

  // Asking the server

  async function ask(path, message) {
    const options = message === undefined ? {} : { method: "POST", body: JSON.stringify(message) };
    let answer;
    try {
      answer = await fetch(path, options);
    } catch {
      gone("pyrocco app is not running any more. To continue, start it again: it opens a new tab. Files that you downloaded are safe; other results are gone.");
      throw new Error("gone");
    }
    if (answer.status === 403) {
      gone("This tab belongs to an earlier run of pyrocco app. Use the tab that the running app opened; the results of this tab are gone.");
      throw new Error("gone");
    }
    const content = await answer.json();
    if (!answer.ok) throw Object.assign(new Error(content.error), { sheets: content.sheets ?? [] });
    return content;
  }

  function gone(message) {
    find("gone").textContent = message;
    find("gone").hidden = false;
    clearInterval(heartbeat);
    for (const control of document.querySelectorAll("main button, main input, main select, #quit")) control.disabled = true;
    scrollTo(0, 0);
  }

  function show(id, message) {
    if (message === "gone") return;
    find(id).textContent = message;
    find(id).hidden = !message;
  }

  // A file is sent as it is, so that a large one never has to be in memory.
  function send(path, file, watch) {
    return new Promise((done, fail) => {
      if (file.size > state.limit) {
        fail(new Error(`${file.name} has ${megabytes(file.size)}, but the limit of this page is ${megabytes(state.limit)}. Start pyrocco app with --max-size 2GB to accept larger files, or leave out rows or columns that vary little.`));
        return;
      }
      const request = new XMLHttpRequest();
      request.open("POST", `${path}?name=${encodeURIComponent(file.name)}`);
      request.setRequestHeader("Content-Type", "application/octet-stream");
      request.upload.onprogress = (event) => watch?.(event.loaded / Math.max(event.total, 1));
      request.onload = () => {
        if (request.status === 403) gone("This tab belongs to an earlier run of pyrocco app. Use the tab that the running app opened.");
        const content = request.status === 403 ? { error: "gone" } : JSON.parse(request.responseText);
        if (request.status === 200) done(content); else fail(new Error(content.error));
      };
      request.onerror = () => fail(new Error("The file could not be copied: it was changed or moved, or pyrocco app is not running any more."));
      request.send(file);
    });
  }

  const megabytes = (bytes) => `${(bytes / 1e6).toLocaleString("en", { maximumFractionDigits: bytes < 1e7 ? 1 : 0 })} MB`;

  // Choosing a file

  const MARKET = /\.mtx(\.gz)?$/i;
  const BESIDE = /(barcodes|features|genes)\.tsv(\.gz)?$/i;

  // A folder stands for the Matrix Market file in it, and the names beside that.
  async function chooseIn(folder) {
    const entries = await new Promise((done, fail) => folder.createReader().readEntries(done, fail));
    const wanted = entries.filter((entry) => entry.isFile && (MARKET.test(entry.name) || BESIDE.test(entry.name)));
    if (wanted.filter((entry) => MARKET.test(entry.name)).length !== 1) {
      show("upload-error", `The folder ${folder.name} does not hold one Matrix Market file: drop a file instead.`);
      return;
    }
    choose(await Promise.all(wanted.map((entry) => new Promise((done, fail) => entry.file(done, fail)))));
  }

  function chooseDropped(transfer) {
    const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.());
    const folder = entries.find((entry) => entry?.isDirectory);
    if (!folder) choose(transfer.files);
    else chooseIn(folder).catch(() => show("upload-error", `The folder ${folder.name} cannot be read.`));
  }

  async function choose(files) {
    const all = [...files];
    const main = all.find((file) => MARKET.test(file.name)) ?? all[0];
    if (!main) return;
    if (isRunning()) {
      show("upload-error", "A fit is running. Wait for its result, or stop it before you choose another file.");
      return;
    }
    show("upload-error", "");
    const others = all.filter((file) => file !== main);
    if (others.length && !MARKET.test(main.name)) {
      show("upload-error", "Choose one file. Only a Matrix Market file comes with others: barcodes.tsv and features.tsv.");
      return;
    }
    find("uploading").hidden = false;
    try {
      const file = await send("files", main, (share) => { find("upload-bar").value = share; });
      for (const other of others) await send(`files/${file.id}/beside`, other);
      begin(file);
    } catch (error) {
      show("upload-error", error.message);
    }
    find("uploading").hidden = true;
    find("file").value = "";
  }

  // Reading a file that is huge inside should not go on when nobody waits for it.
  const leave = () => { if (state.file) navigator.sendBeacon(`files/${state.file.id}/leave`); };

  function begin(file) {
    leave();
    Object.assign(state, { file, columns: [], tables: [], fit: null, about: null });
    state.applies = [...file.options, "annotate", ...(file.options.includes("layout") ? ["encode"] : [])];
    form.reset();
    find("n-rows").value = find("n-columns").value = "";
    show("read-error", "");
    for (const label of form.querySelectorAll("[data-option]")) label.hidden = !state.applies.includes(label.dataset.option);
    find("columns-box").hidden = !file.options.includes("ignore");
    find("file-name").textContent = file.name;
    document.title = `${file.name} - pyrocco`;
    document.body.classList.add("is-small");
    showSheets([]);
    fill(find("row-names"), [["", "detected"], ["none", "no column"]]);
    for (const id of ["run", "result", "new", "found"]) find(id).hidden = true;
    find("read").hidden = false;
    location.hash = "";
    preview();
  }

  function fill(select, choices) {
    const before = select.value;
    select.replaceChildren(...choices.map(([value, text]) => make("option", { value }, text)));
    if (choices.some(([value]) => value === before)) select.value = before;
  }

  // What was read, and its corrections

  function options() {
    const chosen = {};
    for (const name of state.applies) {
      const control = field(name);
      if (!control) continue;
      if (control.type === "checkbox") { if (control.checked) chosen[name] = true; }
      else if (control.value === "") continue;
      else if (name === "header" || name === "encode") chosen[name] = control.value === "true";
      else if (name === "annotate") chosen[name] = [control.value];
      else chosen[name] = control.value;
    }
    return chosen;
  }

  async function preview() {
    const wanted = ++state.wanted;
    find("reading").textContent = "Reading the file…";
    find("found").classList.add("is-busy");
    find("start").disabled = true;
    try {
      const about = await ask(`files/${state.file.id}/preview`, { options: options(), tables: state.tables });
      if (wanted !== state.wanted || about.replaced) return;
      show("read-error", "");
      display(about);
      find("run").hidden = false;
      find("start").disabled = isRunning();
    } catch (error) {
      if (wanted !== state.wanted) return;
      const sheets = error.sheets ?? [];
      const others = sheets.length > 1 ? `. The workbook has ${sheets.length} sheets: choose the one with the table under "Sheet".` : "";
      show("read-error", error.message === "gone" ? "gone" : `${error.message}${others}`);
      showSheets(sheets);
      find("correct-box").open = true;
    }
    find("reading").textContent = "";
    find("found").classList.remove("is-busy");
  }

  function display(about) {
    state.about = about;
    const [row, column] = about.axis_names;
    find("found").hidden = false;
    find("kind").textContent = `${count(about.facts.n_rows, row)} and ${count(about.facts.n_columns, column)}. Kind of cells: ${about.cells}.`;
    find("preparation").textContent = about.preparation;
    find("notes").replaceChildren(...about.notes.map((note) => make("li", {}, note)));
    // The program has to start, and draws the figure and the report.
    find("cost").textContent = `The fit takes ${about.cost.seconds < 10 ? "a few seconds" : `about ${time(about.cost.seconds)}`}.`;
    showCells(about);
    const names = [...Object.keys(about.encoding).length ? Object.keys(about.encoding) : swapped() ? [] : about.columns, ...about.set_aside, ...about.row_annotations];
    for (const name of names) if (!state.columns.includes(name)) state.columns.push(name);
    fill(find("row-names"), [["", "detected"], ["none", "no column"], ...state.columns.slice(0, 500).map((name) => [name, name])]);
    showSheets(about.sheets);
    showColumns();
  }

  const showSheets = (names) => fill(find("sheet"), [["", "first"], ...names.map((name) => [name, name])]);

  const swapped = () => field("transpose").checked;

  function showCells({ first_cells: first, facts, axis_names: [row, column] }) {
    const cell = (value) => (value === null ? make("td", { class: "missing" }, "missing") : make("td", {}, digits(value, 6)));
    find("cells").replaceChildren(make("table", {},
      make("thead", {}, make("tr", {}, make("td", {}), ...first.column_names.map((name) => make("th", { scope: "col" }, name)))),
      make("tbody", {}, ...first.row_names.map((name, i) => make("tr", {}, make("th", { scope: "row" }, name), ...first.values[i].map(cell))))));
    const [r, c] = [first.row_names.length, first.column_names.length];
    const isWhole = r === facts.n_rows && c === facts.n_columns;
    find("corner").textContent = isWhole ? "" : `The first ${count(r, row)} and ${count(c, column)} are shown.`;
  }

  const listed = (name) => field(name).value.split(",").map((word) => word.trim()).filter(Boolean);

  function useOf(name) {
    if (field("row_names").value === name) return "names";
    if (listed("annotate").includes(name)) return "annotation";
    if (listed("ignore").includes(name)) return "ignore";
    return state.about.set_aside.includes(name) ? "aside" : "data";
  }

  function showColumns() {
    const words = find("column-search").value.toLowerCase();
    const found = state.columns.filter((name) => name.toLowerCase().includes(words));
    const uses = [["data", "data"], ["names", "row names"], ["annotation", "annotation"], ["ignore", "ignored"]];
    find("columns").replaceChildren(...found.slice(0, COLUMNS_SHOWN).map((name) => {
      const use = useOf(name);
      const select = make("select", { "aria-label": `Use of ${name}`, onchange: (event) => { event.stopPropagation(); setUse(name, event.target.value); } });
      fill(select, use === "aside" ? [...uses, ["aside", "set aside"]] : uses);
      select.value = use;
      select.addEventListener("input", (event) => event.stopPropagation());
      return make("label", {}, make("span", {}, name), select);
    }), ...(found.length > COLUMNS_SHOWN ? [make("p", { class: "muted small" }, `${found.length - COLUMNS_SHOWN} more columns: write a part of their names above.`)] : []));
  }

  function setUse(name, use) {
    const data = state.columns.filter((other) => useOf(other) === "data");
    const isAdded = use === "data" && state.about.set_aside.includes(name);
    const problem = name.includes(",") && use !== "names" ? "Its name contains a comma: rename the column in the file, or give its position, counted from 1, below."
      : isAdded && (state.about.facts.n_columns > state.about.columns.length || data.some((other) => other.includes(","))) ? `To use "${name}" too, write all columns of data under "Columns to use" below.` : "";
    show("read-error", problem);
    if (problem) {
      find("correct-box").open = true;
      showColumns();
      return;
    }
    if (field("row_names").value === name) field("row_names").value = "";
    for (const list of ["columns", "ignore", "annotate"]) field(list).value = listed(list).filter((other) => other !== name).join(",");
    if (use === "names") field("row_names").value = name;
    if (use === "annotation") field("annotate").value = [...listed("annotate"), name].join(",");
    if (use === "ignore") field("ignore").value = [...listed("ignore"), name].join(",");
    // A column that the reader set aside is used only if it is named, with the others.
    if (isAdded) field("columns").value = [...data, name].join(",");
    preview();
  }

  function corrected(event) {
    if (event.target.id === "column-search" || event.target.type === "file") return;
    // Another sheet or another first line has other columns.
    if (event.type === "change" && !["row_names", "columns", "ignore", "annotate"].includes(event.target.name)) state.columns = [];
    clearTimeout(state.timer);
    state.timer = setTimeout(preview, event.type === "input" ? 700 : 0);
  }

  async function addTable(file) {
    if (!file) return;
    try {
      const table = await send("files", file);
      state.tables = [table.id];
      preview();
    } catch (error) {
      show("read-error", error.message);
    }
  }

  function readAsDetected() {
    form.reset();
    state.tables = [];
    preview();
  }

  // The fit

  const time = (seconds) => {
    if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s`;
    return seconds < 5400 ? `${Math.round(seconds / 60)} minutes` : `${(seconds / 3600).toFixed(1)} hours`;
  };

  const isRunning = () => !find("progress-box").hidden;

  async function start() {
    show("run-error", "");
    const numbers = ["n-rows", "n-columns"].map((id) => find(id).value || "auto");
    const chosen = { ...options(), ...(numbers.every((n) => n === "auto") ? {} : { n_clusters: numbers.join(",") }) };
    try {
      const fit = await ask("fits", { file: state.file.id, options: chosen, tables: state.tables });
      find("result").hidden = find("new").hidden = true;
      follow(fit.id);
      find("stop").focus();
    } catch (error) {
      show("run-error", error.message);
    }
  }

  async function follow(id) {
    state.fit = id;
    location.hash = `fit=${id}`;
    find("start-box").hidden = true;
    find("progress-box").hidden = find("run").hidden = false;
    find("bar").removeAttribute("value");
    for (;;) {
      let fit;
      try {
        fit = await ask(`fits/${id}`);
      } catch (error) {
        if (error.message !== "gone") finish(error.message);
        return;
      }
      if (state.fit !== id) return;
      if (fit.stage === "waiting" || fit.stage === "running") {
        showProgress(fit);
        await new Promise((done) => setTimeout(done, 400));
        continue;
      }
      finish(fit.stage === "failed" ? fit.message : fit.stage === "stopped" ? "The fit was stopped. Nothing was kept of it." : "");
      if (fit.stage === "done") showResult(fit);
      return;
    }
  }

  function showProgress({ stage, before, progress }) {
    if (stage === "waiting") {
      find("stage").textContent = `Waiting for ${count(before, "other fit")} to end.`;
      find("share").textContent = "";
      return;
    }
    const steps = progress.steps ? ` ${progress.step} of ${progress.steps}` : "";
    find("stage").textContent = progress.stage ? `${capital(progress.stage)}${steps}` : "Starting";
    if (progress.fraction !== undefined) find("bar").value = progress.fraction;
    const left = progress.left === null || progress.left === undefined ? "" : `, about ${time(progress.left)} left`;
    find("share").textContent = `${percent(progress.fraction ?? 0)}${left}`;
  }

  function finish(problem) {
    find("progress-box").hidden = true;
    find("start-box").hidden = false;
    find("start").disabled = state.file === null;
    show("run-error", problem);
    show("upload-error", "");
  }

  // The result

  const SHOWN_FILES = { "row_labels.csv": "Row labels (CSV)", "column_labels.csv": "Column labels (CSV)", "heatmap.png": "Figure (PNG)", "report.html": "Report (HTML)", "model.pyrocco": "Model" };

  function showResult(fit) {
    const found = fit.summary, base = `fits/${fit.id}`;
    find("file-name").textContent = fit.name;
    find("result-sentence").textContent = `Found ${count(found.n_row_clusters, "cluster")} of rows and ${count(found.n_column_clusters, "cluster")} of columns in ${fit.name}.`;
    find("result-warnings").hidden = !fit.warnings.length;
    find("result-warnings").replaceChildren(make("ul", {}, ...fit.warnings.map((text) => make("li", {}, text))));
    const links = Object.entries(SHOWN_FILES).filter(([name]) => fit.files.includes(name)).map(([name, text]) => make("a", { class: "button", href: `${base}/results/${name}`, download: "" }, text));
    find("downloads").replaceChildren(make("a", { class: "button first", href: `${base}/results/all-results.zip`, download: "" }, "Download everything (ZIP)"), ...links);
    find("report-link").href = `${base}/report`;
    find("report").src = `${base}/report`;
    find("new-result").hidden = true;
    show("new-error", "");
    find("result").hidden = find("new").hidden = false;
    document.body.classList.add("is-small");
    find("result-title").focus();
  }

  // New rows

  async function place(file) {
    if (!file) return;
    show("new-error", "");
    find("new-result").hidden = true;
    find("new-status").textContent = "Assigning the new rows to clusters…";
    try {
      const added = await send("files", file);
      showPlaced(await ask(`fits/${state.fit}/predictions`, { file: added.id }));
    } catch (error) {
      show("new-error", error.message);
    }
    find("new-status").textContent = "";
    find("new-file").value = "";
  }

  function showPlaced(found) {
    const far = found.n_far ? `${found.n_far} of them far from every cluster` : "none of them far from every cluster";
    find("new-sentence").textContent = `${count(found.n_rows, "row")}, ${far}.`;
    find("new-download").href = `fits/${state.fit}/predictions/${found.id}`;
    find("new-table").replaceChildren(make("table", {},
      make("thead", {}, make("tr", {}, ...["Row", "Cluster", "Membership", "Far from every cluster"].map((text) => make("th", { scope: "col" }, text)))),
      make("tbody", {}, ...found.rows.map((row) => make("tr", {}, make("td", {}, row.name), make("td", {}, `R${row.label}`), make("td", {}, digits(row.membership, 3)), make("td", {}, row.far ? "yes" : "no"))))));
    find("new-result").hidden = false;
  }

  // Dropping files

  function takeDrops(area, take) {
    for (const kind of ["dragenter", "dragover"]) area.addEventListener(kind, (event) => { event.preventDefault(); area.classList.add("over"); });
    for (const kind of ["dragleave", "drop"]) area.addEventListener(kind, () => area.classList.remove("over"));
    area.addEventListener("drop", (event) => { event.preventDefault(); take(event.dataTransfer); });
  }
  // A file that misses the areas must not replace the page.
  for (const kind of ["dragover", "drop"]) addEventListener(kind, (event) => event.preventDefault());

  // Light and dark

  const remembered = () => { try { return localStorage.getItem("pyrocco-theme"); } catch { return null; } };
  function setTheme(theme) {
    document.documentElement.dataset.theme = theme;
    find("theme").textContent = theme === "dark" ? "Light" : "Dark";
    find("theme").setAttribute("aria-label", theme === "dark" ? "Use light colours" : "Use dark colours");
  }
  setTheme(remembered() ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"));

  // Start

  takeDrops(find("drop"), chooseDropped);
  takeDrops(find("new-drop"), (transfer) => place(transfer.files[0]));
  find("file").addEventListener("change", (event) => choose(event.target.files));
  find("new-file").addEventListener("change", (event) => place(event.target.files[0]));
  find("table").addEventListener("change", (event) => addTable(event.target.files[0]));
  form.addEventListener("change", corrected);
  form.addEventListener("input", corrected);
  addEventListener("pagehide", leave);
  form.addEventListener("submit", (event) => event.preventDefault());
  find("column-search").addEventListener("input", showColumns);
  find("as-detected").addEventListener("click", readAsDetected);
  find("start").addEventListener("click", start);
  find("stop").addEventListener("click", () => ask(`fits/${state.fit}/stop`, {}).catch(() => {}));
  find("theme").addEventListener("click", () => {
    const theme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    setTheme(theme);
    try { localStorage.setItem("pyrocco-theme", theme); } catch { /* the browser may not allow it */ }
  });
  find("quit").addEventListener("click", async () => {
    if (!confirm("Quit pyrocco app? Running fits are stopped, and results that you did not download are removed.")) return;
    await ask("quit", {}).catch(() => {});
    gone("pyrocco app has ended. You can close this tab.");
  });

  const heartbeat = setInterval(() => ask("state").catch(() => {}), 4000);
  ask("state").then(({ max_bytes: limit, endings }) => {
    state.limit = limit;
    find("limit").textContent = megabytes(limit);
    for (const id of ["new-file", "table"]) find(id).accept = endings.map((ending) => `.${ending.split(".").pop()}`).join(",");
    const fit = new URLSearchParams(location.hash.slice(1)).get("fit");
    if (fit) follow(fit);
    document.documentElement.dataset.ready = "";
  }).catch(() => {});
})();
