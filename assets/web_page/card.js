// Cards of the graph, drawn like those of the window (widgets/graph/paint/card).
const LEAVES = ["parameter", "data", "constant"];
const RADIUS = 10, STACK = 7;

function write(group, text, x, y, px, weight, kind = "", anchor = "start", mono = false) {
  if (!text) return null;
  const element = make("text", { x, y, "font-size": px, "font-weight": weight, "text-anchor": anchor, class: `${kind}${mono ? " mono" : ""}` }, text);
  group.append(element);
  return element;
}

function box(group, kind, x, y, w, h, r) {
  const element = make("rect", { class: kind, x, y, width: Math.max(0, w), height: Math.max(0, h), rx: r });
  group.append(element);
  return element;
}

// x₁ for x1, as on the cards of the window.
function variable(name) {
  return /^\p{L}\d+$/u.test(name) ? name[0] + [...name.slice(1)].map((d) => String.fromCharCode(0x2080 + Number(d))).join("") : name;
}

function roleSign(group, kind, x, y) {
  if (kind === "parameter") group.append(make("path", { class: "sign parameter", d: `M${x} ${y - 6}l6 6l-6 6l-6 -6z` }));
  else group.append(make("circle", { class: `sign ${kind}`, cx: x, cy: y, r: kind === "data" ? 5 : 4.4 }));
}

function symbolChip(group, card, x, y) {
  box(group, "symbol", x, y, 28, 28, 7);
  const text = card.symbol || (card.title || "")[0] || "";
  const px = [15, 13, 11].find((size) => width(text, size, 700) <= 24) || 11;
  write(group, fitted(text, 36, px, 700), x + 14, y + 14, px, 700, "", "middle");
}

function chevron(group, x, y, size, down) {
  const half = size / 2;
  const d = down ? `M${x - size} ${y - half}L${x} ${y + half}L${x + size} ${y - half}` : `M${x - half} ${y - size}L${x + half} ${y}L${x - half} ${y + size}`;
  group.append(make("path", { class: "chevron", d }));
}

function heading(group, card, x, right, y, px, weight, kind) {
  const leaf = LEAVES.includes(card.kind);
  const title = leaf ? variable(card.title || "") : card.title || "";
  let name = leaf || card.name === card.title ? "" : variable(card.name || "");
  const room = right - x, least = card.kind === "module" ? 0 : room * 0.3;
  name = name && fitted(name, Math.max(least, room - width(title, px, weight) - 8), 11, 500);
  if (name === "…") name = "";
  const taken = name ? width(name, 11, 500) + 8 : 0;
  write(group, fitted(title, room - taken, px, weight), x, y, px, weight, kind);
  write(group, name, right, y, 11, 500, "thin", "end");
}

function hatch(group, x, y, w, h, r) {
  let d = "";
  for (let left = x - h; left < x + w; left += 7) {
    const a = Math.max(left, x + r * 0.3), b = Math.min(left + h, x + w - r * 0.3);
    if (b > a) d += `M${a} ${y + h - (a - left)}L${b} ${y + h - (b - left)}`;
  }
  group.append(make("path", { class: "hatch", d, opacity: 0.32 }));
}

function thumbnailSize(reading, w, h, title) {
  const counts = reading.shape ? reading.shape.split(" × ").map(Number) : [1];
  const columns = Math.max(1, counts[counts.length - 1]);
  const rows = counts.slice(0, -1).reduce((product, count) => product * Math.max(1, count), 1);
  const tallest = Math.min(40, h - 14), widest = Math.max(36, Math.min(76, w * 0.45, w - title - 32));
  const cell = Math.min(8, tallest / rows, widest / columns);
  return [Math.min(widest, Math.max(36, cell * columns)), Math.min(tallest, Math.max(9, cell * rows))];
}

function thumbnail(group, cells, x, y, w, h) {
  box(group, "grid", x, y, w, h, 0.6);
  const rows = cells.split("/"), paths = new Map();
  const high = h / rows.length;
  rows.forEach((row, n) => [...row].forEach((letter, m) => {
    const wide = w / row.length, f = (number) => number.toFixed(2);
    const d = letter === "z" ? `M${f(x + m * wide)} ${f(y + (n + 1) * high)}l${f(wide)} ${f(-high)}`
      : `M${f(x + m * wide)} ${f(y + n * high)}h${f(wide + 0.05)}v${f(high + 0.05)}h${f(-wide - 0.05)}z`;
    paths.set(letter, (paths.get(letter) || "") + d);
  }));
  for (const [letter, d] of paths) {
    group.append(letter === "z" ? make("path", { class: "hatch", d }) : make("path", { fill: `var(--heat-${letter.toLowerCase()})`, d }));
  }
}

function leafCard(group, card, reading, w, h) {
  const middle = h / 2;
  roleSign(group, card.kind, 18, middle);
  const value = !reading.on ? t("not yet") : shown.values ? reading.number || "" : "";
  const px = reading.on ? 14 : 11, left = 30, right = w - 15;
  const room = Math.min(width(value, px, 500), right - left);
  write(group, fitted(variable(card.title || ""), right - room - 7 - left, 14, 600), left, middle, 14, 600);
  const fits = reading.on || width(value, px, 500) <= room + 1;
  write(group, fits ? fitted(value, room + 1, px, 500) : "", right, middle, px, 500, reading.on ? "" : "thin", "end");
}

function scalarCard(group, card, reading, w, h) {
  const middle = h / 2, left = 52, right = w - 12;
  if (reading.share && reading.on && shown.values && !reading.bad && card.kind !== "loss") {
    const r = RADIUS - 1.2, y = 1.2 + r - Math.sqrt(r * r - (1.2 + r - 6) ** 2);
    const d = `M6 ${y}V${h - y}A${r} ${r} 0 0 1 1.2 ${h - 1.2 - r}V${1.2 + r}A${r} ${r} 0 0 1 6 ${y}z`;
    group.append(make("path", { d, fill: `var(--heat-${reading.share.toLowerCase()})` }));
  }
  symbolChip(group, card, 15, middle - 14);
  heading(group, card, left, right, middle - 13, 11, 500, "thin");
  if (!reading.on) write(group, t("not reached yet"), left, middle + 8, 11, 500, "thin");
  else if (shown.values) {
    const px = width(reading.number || "", 17, 600) <= right - left ? 17 : 14;
    write(group, fitted(reading.number || "", right - left, px, 600), left, middle + 8, px, 600);
  } else write(group, fitted(card.note || "", right - left, 11, 500), left, middle + 8, 11, 500, "thin");
}

function tensorRows(card, reading, h) {
  const rows = [];
  if (reading.shape && shown.shapes) rows.push([reading.shape, true]);
  if (reading.bad) rows.push([reading.bad, false]);
  else if (!reading.on && !LEAVES.includes(card.kind)) rows.push([t("not reached yet"), false]);
  else if (card.note) rows.push([card.note, false]);
  if (rows.length === 2 && h < 52) return reading.bad ? [[`${rows[0][0]} · ${rows[1][0]}`, false]] : rows.slice(0, 1);
  return rows;
}

function tensorCard(group, card, reading, w, h) {
  const leaf = LEAVES.includes(card.kind), middle = h / 2;
  const title = Math.max(width(card.title || "", 13, 600) + (leaf ? 15 : 0), width(reading.shape || "", 11, 500, true));
  const [wide, high] = thumbnailSize(reading, w, h, title);
  const hasGrid = reading.grid && shown.values;
  if (hasGrid) thumbnail(group, run.grids[reading.grid - 1], 9, middle - high / 2, wide, high);
  else if (leaf) roleSign(group, card.kind, 9 + wide / 2, middle);
  else symbolChip(group, card, 9 + wide / 2 - 14, middle - 14);
  let left = 9 + wide + 11;
  const right = w - 10, rows = tensorRows(card, reading, h);
  const top = middle - 7.5 * (rows.length + 1) + 7;
  rows.forEach(([text, mono], n) => write(group, fitted(text, right - left, 11, 500, mono), left, top + 15 * (n + 1), 11, 500, "thin", "start", mono));
  if (leaf && hasGrid) { roleSign(group, card.kind, left + 5, top); left += 15; }
  heading(group, card, left, right, top, 13, 600, "");
}

function moduleCard(group, card, reading, w, h) {
  const middle = STACK + (h - STACK) / 2;
  box(group, "fold", 11, middle - 11, 22, 22, 6);
  chevron(group, 22, middle, 4.2, false);
  let right = w - 10;
  if (reading.grid && shown.values) {
    const [wide, high] = thumbnailSize(reading, w, h - STACK, w - 80);
    const left = w - 11 - Math.min(wide, 48);
    thumbnail(group, run.grids[reading.grid - 1], left, middle - high / 2, Math.min(wide, 48), high);
    right = left - 8;
  }
  let rows = [[[card.note, reading.bad].filter(Boolean).join(" · "), false]];
  if (reading.shape && shown.shapes) rows.push([reading.shape, true]);
  else if (reading.number && shown.values) rows.push([reading.number, false]);
  rows = rows.filter(([text]) => text).slice(0, h - STACK >= 60 ? 2 : 1);
  const top = middle - 7.5 * (rows.length + 1) + 7;
  heading(group, card, 44, right, top, 13, 600, "");
  rows.forEach(([text, mono], n) => write(group, fitted(text, right - 44, 11, 500, mono), 44, top + 15 * (n + 1), 11, 500, "thin", "start", mono));
}

function failedCall(group, card, reading, w, h) {
  symbolChip(group, card, 13, h / 2 - 14);
  const left = 52, right = w - 12;
  heading(group, card, left, right, 16, 13, 600, "");
  const words = (reading.on ? card.failed : t("stops here")).split(/\s+/), lines = [""];
  const most = Math.max(1, Math.floor((h - 30) / 15));
  for (const word of words) {
    const longer = `${lines[lines.length - 1]} ${word}`.trim();
    if (!lines[lines.length - 1] || lines.length === most || width(longer, 11, 500) <= right - left) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  lines.forEach((line, n) => write(group, fitted(line, right - left, 11, 500), left, 34 + 15 * n, 11, 500, "message"));
}

function pill(group, kind, right, y, text, px, h, sign) {
  const w = width(text, px, 600) + (sign ? 29 : 14), part = make("g", { class: kind });
  box(part, "", right - w, y, w, h, h / 2);
  if (sign === "up") part.append(make("path", { d: `M${right - w + 13} ${y + h / 2 - 4}l4.2 7.3h-8.4z` }));
  if (sign === "diamond") part.append(make("path", { d: `M${right - w + 12} ${y + h / 2 - 4.4}l4.4 4.4l-4.4 4.4l-4.4 -4.4z` }));
  write(part, text, right - w + (sign ? 21 : 7), y + h / 2 + 0.5, px, 600);
  group.append(part);
  return w;
}

// The gradient that a card received; a long sum is shortened to its total.
function bubble(group, reading, w, h) {
  let text = reading.gradient;
  if (width(text, 13, 600) > w + 40) text = text.includes(" = ") ? `Σ ${text.split(" = ")[1]}` : text.split(" · ")[0];
  const kind = `bubble${reading.hollow ? " hollow" : ""}${reading.dashed ? " broken" : ""}${reading.pale ? " pale" : ""}`;
  const crowded = reading.tag && 10 + width(reading.tag, 11, 600) + 16 > w + 12 - width(text, 13, 600) - 31;
  pill(group, kind, w + 12, crowded ? h + 7 : h - 7, text, 13, 22, "up");
}

function drawCard(group, card, reading) {
  const [w, h] = card.size;
  const top = card.kind === "module" ? STACK : 0;
  const r = !LEAVES.includes(card.kind) ? RADIUS : card.scalar ? h / 2 : 14;
  const kinds = [card.kind, reading.on ? "on" : "waiting", reading.failed || (card.call && reading.failed) ? "failed" : "", reading.bad ? "bad" : "", card.cut && !LEAVES.includes(card.kind) ? "dashed" : ""];
  group.setAttribute("class", `card ${kinds.filter(Boolean).join(" ")}`);
  group.replaceChildren();
  if (reading.active) box(group, `glow ${reading.failed ? "error" : reading.active}`, -3, top - 3, w + 6, h - top + 6, r + 3);
  if (top) for (const inset of [9, 4.5]) box(group, "back", inset, STACK * (1 - inset / 9), w - 2 * inset, 30, RADIUS);
  box(group, "body", 0.6, top + 0.6, w - 1.2, h - top - 1.2, r);
  if (reading.bad) hatch(group, 1, top + 1, w - 2, h - top - 2, r);
  if (card.call) failedCall(group, card, reading, w, h);
  else if (card.kind === "module") moduleCard(group, card, reading, w, h);
  else if (!card.scalar) tensorCard(group, card, reading, w, h);
  else if (LEAVES.includes(card.kind)) leafCard(group, card, reading, w, h);
  else scalarCard(group, card, reading, w, h);
  if (reading.failed) {
    const sign = make("g", { class: "alarm" });
    sign.append(make("circle", { cx: w - 3, cy: top + 2, r: 9.5 }));
    write(sign, "!", w - 3, top + 2.5, 13, 700, "", "middle");
    group.append(sign);
  }
  if (reading.tag) pill(group, "tag", 10 + width(reading.tag, 11, 600) + 14, h - 8.5, reading.tag, 11, 17, "");
  if (reading.update && shown.values) pill(group, "change", w + 12, top - 13, reading.update, 12, 20, "diamond");
  if (reading.gradient && shown.gradients) bubble(group, reading, w, h);
  box(group, "ring", -3, top - 3, w + 6, h - top + 6, r + 3);
  group.setAttribute("aria-label", reading.says);
}
