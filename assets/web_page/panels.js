// The panels: program with marks, explanation, exact numbers, table of values.
const get = (id) => document.getElementById(id);
const codeRows = [];
const TOKEN = /("""[\s\S]*?"""|'''[\s\S]*?'''|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|(#.*)|\b(\d[\w.]*)\b|\b(False|None|True|and|as|assert|async|await|break|class|continue|def|del|elif|else|except|finally|for|from|global|if|import|in|is|lambda|nonlocal|not|or|pass|raise|return|try|while|with|yield)\b/g;

function buildCode() {
  run.source.forEach((line, number) => {
    const row = make("li"), code = make("code"), value = make("span", { class: "value" }), gradient = make("span", { class: "gradient" });
    const marks = make("span", { class: "at" });
    marks.append(value, gradient);
    row.append(make("span", { class: "no", "aria-hidden": "true" }, String(number + 1)), code, marks);
    let done = 0;
    for (const found of line.matchAll(TOKEN)) {
      code.append(line.slice(done, found.index));
      code.append(make("span", { class: found[1] ? "str" : found[2] ? "com" : found[3] ? "num" : "kw" }, found[0]));
      done = found.index + found[0].length;
    }
    code.append(line.slice(done) || (line ? "" : "\u200b"));
    get("code").append(row);
    codeRows.push({ row, value, gradient });
  });
}

function drawCode() {
  let current = null;
  codeRows.forEach(({ row, value, gradient }, number) => {
    const times = run.lines.times[number + 1];
    const place = times ? at(times, shown.position) : -1;
    const [, text, grad, reached, active] = place < 0 ? ["", "", "", 0, ""] : run.lines.marks[place];
    const fails = run.error && run.error.line === number + 1 && shown.position === last;
    row.className = fails ? "failed" : active;
    if (active || fails) { current = row; row.setAttribute("aria-current", "true"); } else row.removeAttribute("aria-current");
    value.textContent = shown.values && reached ? text : "";
    gradient.textContent = shown.gradients ? grad : "";
    gradient.hidden = !(shown.gradients && grad);
    if (grad) gradient.setAttribute("aria-label", `gradient ${grad.replace("∇", "norm")}`);
  });
  if (current) {
    const list = get("codeScroll"), top = current.offsetTop - list.offsetTop;
    if (top < list.scrollTop || top > list.scrollTop + list.clientHeight - 30) list.scrollTop = top - list.clientHeight / 2;
  }
}

function selectedSubject() {
  const item = cardItems.find((one) => one.card.key === shown.selected);
  return item ? { card: item.card, reading: item.drawn, subject: item.card.about && run.subjects[item.card.about] } : null;
}

function explanationOf(place) {
  const [texts, rows] = [run.explanations[place].slice(0, 5).map((n) => run.texts[n]), run.explanations[place].slice(5)];
  const [title, subtitle, formula, words, origin] = texts;
  return { title, subtitle, formula, words, origin, rows: rows.map((n) => run.rows[n]) };
}

// A long name keeps its end, which tells a parameter from others.
function elidedStart(name, room) {
  if (width(name, 13, 600) <= room) return name;
  const letters = [...name];
  while (letters.length > 1 && width(`…${letters.join("")}`, 13, 600) > room) letters.shift();
  return `…${letters.join("")}`;
}

function drawExplanation() {
  const chosen = selectedSubject();
  const place = chosen && chosen.subject ? at(chosen.subject.explained, shown.position) : chosen ? -1 : run.events[shown.position][4];
  const found = place < 0 ? { title: chosen.card.title || chosen.card.literal, words: chosen.reading.says, rows: [] } : explanationOf(place);
  get("cardTitle").textContent = found.title || "";
  for (const [id, text] of [["cardSubtitle", found.subtitle], ["formula", found.formula], ["words", found.words], ["origin", found.origin ? t("Source: {origin}", { origin: found.origin }) : ""]]) {
    get(id).textContent = text || ""; get(id).hidden = !text;
  }
  const body = get("rule").tBodies[0];
  body.replaceChildren();
  for (const [label, text, number, tone] of found.rows) {
    const row = make("tr", { class: tone });
    row.append(make("th", { scope: "row" }, label), make("td", {}, text), make("td", {}, number));
    body.append(row);
  }
  get("rule").hidden = !body.rows.length;
  get("deselect").hidden = !chosen;
  get("numbers").replaceChildren();
  if (chosen && chosen.subject) {
    drawNumbers(t("Value"), at(chosen.subject.value, shown.position), "");
    drawNumbers(t("Gradient"), at(chosen.subject.gradient, shown.position), "b");
  }
}

// The numbers of a tensor, exact: each is the shortest text that reads as the same number.
function drawNumbers(title, snapshot, tone) {
  if (snapshot < 0) return;
  const numbers = run.numbers[snapshot], part = get("numbers");
  const shape = numbers.shape.length ? numbers.shape.join(" × ") : "scalar";
  part.append(make("h3", { class: tone }, `${title} · ${shape} · ${numbers.dtype}`));
  const size = numbers.shape.reduce((product, dim) => product * dim, 1);
  if (numbers.text && numbers.text.length) {
    const holder = make("div", { class: "cells", tabindex: "0", role: "group", "aria-label": `${title}, ${shape}` }), table = make("table"), body = make("tbody");
    const columns = Math.max(1, numbers.shape.length ? numbers.shape[numbers.shape.length - 1] : 1);
    for (let n = 0; n < numbers.text.length; n += columns) {
      const row = make("tr");
      for (const text of numbers.text.slice(n, n + columns)) row.append(make("td", {}, text));
      body.append(row);
    }
    table.append(body); holder.append(table); part.append(holder);
    if (numbers.text.length < size) part.append(make("p", { class: "quiet" }, `The first ${numbers.text.length.toLocaleString("en")} of ${size.toLocaleString("en")} numbers`));
  } else part.append(make("p", { class: "quiet" }, size ? t("Its numbers did not fit into this page") : t("No elements")));
  if (numbers.facts) part.append(make("p", { class: "quiet" }, numbers.facts.map(([name, text]) => `${name} ${text}`).join(" · ")));
}

function tableRows(position) {
  let rows = [];
  for (const [from, first, removed, added] of run.values.edits) {
    if (from > position) break;
    rows = [...rows.slice(0, first), ...added, ...rows.slice(first + removed)];
  }
  return rows;
}

function drawTable() {
  const body = get("table").tBodies[0];
  body.replaceChildren();
  const room = get("table").clientWidth * 0.4 - 16;
  for (const number of tableRows(shown.position)) {
    const [name, value, gradient] = run.values.rows[number], row = make("tr");
    const head = make("th", { scope: "row" });
    head.append(make("bdi", { title: name }, elidedStart(variable(name), room)));
    row.append(head, make("td", {}, shown.values ? value : ""), make("td", { class: gradient === "—" ? "none" : "g" }, shown.gradients ? gradient : ""));
    body.append(row);
  }
}

function buildPanels() {
  get("name").textContent = run.title || t("Run");
  get("about").textContent = run.about;
  buildCode();
  if (run.error) {
    get("error").hidden = false;
    const place = run.error.line ? `Line ${run.error.line}: ` : "";
    get("error").textContent = `${place}${run.error.type}: ${run.error.message}${run.error.hint ? `\n${run.error.hint}` : ""}`;
  }
  get("outputPanel").hidden = !run.output;
  get("output").textContent = run.output;
  get("findingsPanel").hidden = !run.findings.length;
  for (const finding of run.findings) {
    const part = make("div", { class: "finding" });
    part.append(make("h3", {}, `${finding.title}${finding.line ? ` · line ${finding.line}` : ""}`), make("p", {}, finding.message), make("p", { class: "quiet" }, finding.why));
    if (finding.fix.length) part.append(make("pre", {}, finding.fix.join("\n")));
    get("findings").append(part);
  }
  get("leftOut").hidden = !run.leftOut.length;
  get("leftOut").textContent = run.leftOut.join("\n");
  get("empty").textContent = run.error ? t("The program stopped before it made a tensor") : t("This program made no tensors");
}
