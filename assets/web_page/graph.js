// The graph: one fold state of a scene, its view, and what changes from position to position.
const svg = document.getElementById("graph");
const layers = {};
const view = { x: 0, y: 0, zoom: 1, fitted: true };
let cardItems = [], wireItems = [], frameItems = [], built = null;
const still = matchMedia("(prefers-reduced-motion: reduce)");

function buildLayers() {
  svg.replaceChildren();
  const pattern = document.createElementNS("http://www.w3.org/2000/svg", "pattern");
  for (const [key, value] of Object.entries({ id: "dots", width: 28, height: 28, patternUnits: "userSpaceOnUse" })) pattern.setAttribute(key, value);
  pattern.append(make("circle", { class: "dot", cx: 14, cy: 14, r: 1 }));
  layers.root = make("g");
  layers.ground = make("rect", { x: -9e4, y: -9e4, width: 18e4, height: 18e4, fill: "url(#dots)" });
  svg.append(pattern, layers.root);
  layers.root.append(layers.ground);
  for (const name of ["frames", "wires", "heads", "cards", "labels", "tokens"]) layers.root.append(layers[name] = make("g"));
  layers.cards.setAttribute("role", "list");
  layers.cards.setAttribute("aria-label", t("Cards in the order of execution"));
}

function buildState() {
  const state = stateNow();
  if (built === state) return;
  built = state;
  for (const name of ["frames", "heads", "wires", "cards", "labels", "tokens"]) layers[name].replaceChildren();
  frameItems = state.frames.map((entry) => frameItem(entry));
  // Paths are measured in the document only.
  wireItems = state.wires.map((entry) => { const item = wireItem(entry); layers.wires.append(item.group); return item; });
  cardItems = state.cards.map((entry, number) => cardItem(entry, number));
  const tops = cardItems.map((item) => item.entry[2]);
  svg.setAttribute("aria-label", t("Graph of {cards} cards and {wires} wires", { cards: state.cards.length, wires: state.wires.length }));
  document.getElementById("empty").hidden = tops.length > 0;
  if (view.fitted) fit();
}

function frameItem(entry) {
  const [about, x, y, w, h, depth] = entry, [key, title, kind, note] = run.frames[about];
  box(layers.frames, depth % 2 ? "frame odd" : "frame", x, y, w, h, 14);
  const group = make("g", { class: "head", transform: `translate(${x} ${y})`, "data-key": key });
  box(group, "plate", 0, 0, w, 28, 10);
  const name = fitted(title, w - 46, 13, 600), used = width(name, 13, 600) + 9;
  write(group, name, 15, 14, 13, 600);
  let room = w - 46 - used - 12;
  const kindText = width(kind, 11, 500) <= room ? kind : "";
  write(group, kindText, 15 + used, 14.5, 11, 500, "thin");
  room -= width(kindText, 11, 500);
  if (width(note, 11, 500) <= room) write(group, note, w - 33, 14.5, 11, 500, "thin", "end");
  if (canToggle(key)) {
    chevron(group, w - 18, 14, 4.2, true);
    box(group, "ring", 1, 1, w - 2, 27, 10);
    for (const [name_, value] of Object.entries({ role: "button", tabindex: "-1", "aria-expanded": "true", "aria-label": t("open module {title}, {kind}", { title, kind }) })) group.setAttribute(name_, value);
  }
  layers.heads.append(group);
  return { key, group, box: [x, y, x + w, y + 28] };
}

function cardItem(entry, number) {
  const card = cardOf(entry), group = make("g", { transform: `translate(${entry[1]} ${entry[2]})`, "data-key": card.key, tabindex: "-1", role: "button" });
  const listed = make("g", { role: "listitem" });
  if (card.kind === "module" && canToggle(card.key)) group.setAttribute("aria-expanded", "false");
  listed.append(group);
  layers.cards.append(listed);
  return { entry, card, group, number, drawn: null };
}

function drawGraph(isWhole) {
  buildState();
  const phase = run.events[shown.position][1];
  const active = [];
  for (const item of cardItems) {
    const reading = readingOf(item.entry);
    if (isWhole || item.drawn !== reading) { drawCard(item.group, item.card, reading); item.drawn = reading; }
    item.group.classList.toggle("selected", item.card.key === shown.selected);
    item.group.setAttribute("aria-pressed", String(item.card.key === shown.selected));
    if (reading.active) active.push(item);
  }
  layers.tokens.replaceChildren();
  const tokens = [];
  for (const item of wireItems) {
    const mark = markOf(item.entry);
    if (isWhole || item.drawn !== mark || item.phase !== phase) drawWire(item, mark, phase);
    item.drawn = mark; item.phase = phase;
    if (mark.active && (mark.active === "forward" || shown.gradients)) tokens.push({ item, phase: mark.active });
  }
  placeLabels(layers.labels, wireItems, takenBoxes());
  runTokens(tokens);
  followCards(active);
  setRoving();
}

function takenBoxes() {
  const boxes = frameItems.map((item) => item.box);
  for (const { entry, card, drawn } of cardItems) {
    const [w, h] = card.size, [, x, y] = entry;
    boxes.push([x, y, x + w, y + h]);
    if (drawn.gradient && shown.gradients) boxes.push([x + w + 12 - width(drawn.gradient, 13, 600) - 31, y + h - 7, x + w + 12, y + h + 15]);
  }
  return boxes;
}

let tokenRun = 0;
function runTokens(tokens) {
  cancelAnimationFrame(tokenRun);
  if (!tokens.length) return;
  const made = tokens.map(({ item, phase }) => { const token = makeToken(phase); layers.tokens.append(token); return { token, item, phase }; });
  const length = 420 / shown.speed, begun = performance.now();
  const turn = (now) => {
    const share = still.matches || !shown.playing ? 0.5 : Math.min(1, (now - begun) / length);
    for (const { token, item, phase } of made) moveToken(token, item, share, phase);
    if (share < 1 && shown.playing && !still.matches) tokenRun = requestAnimationFrame(turn);
  };
  turn(begun);
}

// The view: scene units to pixels.
function applyView() { layers.root.setAttribute("transform", `translate(${view.x} ${view.y}) scale(${view.zoom})`); }

function fit() {
  const [w, h] = stateNow().size, area = svg.getBoundingClientRect();
  if (!area.width) return;
  view.zoom = Math.min(1.25, (area.width - 60) / Math.max(w, 1), (area.height - 70) / Math.max(h, 1));
  view.fitted = true;
  if (view.zoom < 0.45) { view.zoom = Math.min(0.8, Math.max(0.45, (area.width - 60) / w)); view.y = 34; } else view.y = (area.height - h * view.zoom) / 2;
  view.x = (area.width - w * view.zoom) / 2;
  applyView();
}

function zoomBy(factor, x, y) {
  const area = svg.getBoundingClientRect();
  const px = x === undefined ? area.width / 2 : x - area.left, py = y === undefined ? area.height / 2 : y - area.top;
  const zoom = Math.max(0.05, Math.min(4, view.zoom * factor)), by = zoom / view.zoom;
  view.x = px - (px - view.x) * by; view.y = py - (py - view.y) * by; view.zoom = zoom; view.fitted = false;
  applyView();
}

// Bring what plays into view, where it is not.
function followCards(items) {
  if (!items.length) return;
  const area = svg.getBoundingClientRect();
  const { entry, card } = items[0];
  const left = entry[1] * view.zoom + view.x, top = entry[2] * view.zoom + view.y;
  const right = left + card.size[0] * view.zoom, bottom = top + card.size[1] * view.zoom;
  if (left < 8) view.x += area.width / 2 - (left + right) / 2; else if (right > area.width - 8) view.x += area.width / 2 - (left + right) / 2;
  if (top < 8) view.y += area.height * 0.4 - top; else if (bottom > area.height - 44) view.y += area.height * 0.5 - bottom;
  applyView();
}

// Fold and unfold.
function toggleModule(key) {
  const now = new Set(stateNow().open), open = !now.has(key);
  if (open) now.add(key); else now.delete(key);
  const found = nearestState(sceneNow(), now, key, open);
  if (found < 0) return;
  showState(found);
  const item = [...frameItems, ...cardItems].find((one) => (one.key || one.card.key) === key);
  if (item && item.group.hasAttribute("tabindex")) focusItem(item.group);
  const told = { name: key.replace(/^call:|#\d+$/g, ""), cards: cardItems.length };
  say((open ? t("Opened {name}, {cards} cards", told) : t("Folded {name}, {cards} cards", told)));
}

function showState(number) {
  shown.state[shown.scene] = number;
  drawGraph(true);
  drawButtons();
}

function showExtreme(open) {
  let best = 0;
  sceneNow().states.forEach((state, number) => {
    const size = sceneNow().states[best].open.length;
    if (open ? state.open.length > size : state.open.length < size) best = number;
  });
  showState(best);
}

// Keyboard: a single stop for the Tab key, the arrows up and down go from card to card.
let roving = "";
function focusables() { return [...frameItems.map((item) => item.group).filter((group) => group.hasAttribute("role")), ...cardItems.map((item) => item.group)]; }

function setRoving() {
  const groups = focusables(), current = groups.find((group) => group.dataset.key === roving) || (cardItems[0] && cardItems[0].group);
  for (const group of groups) group.setAttribute("tabindex", group === current ? "0" : "-1");
}

function focusItem(group) { roving = group.dataset.key; setRoving(); group.focus(); }

function moveFocus(by) {
  const groups = focusables(), place = groups.findIndex((group) => group.dataset.key === roving);
  const next = groups[Math.max(0, Math.min(groups.length - 1, place + by))];
  if (!next) return;
  focusItem(next);
  const item = cardItems.find((one) => one.group === next);
  if (item) followCards([item]);
}

function activate(key) {
  const item = cardItems.find((one) => one.card.key === key);
  if (!item || (item.card.kind === "module" && canToggle(key))) { if (canToggle(key)) toggleModule(key); return; }
  shown.selected = shown.selected === key ? "" : key;
  draw();
}

function listenGraph() {
  let from = null, moved = false;
  svg.addEventListener("wheel", (event) => { event.preventDefault(); zoomBy(Math.exp(-event.deltaY * 0.0016), event.clientX, event.clientY); }, { passive: false });
  svg.addEventListener("pointerdown", (event) => { if (event.button === 0) { from = { x: event.clientX - view.x, y: event.clientY - view.y, sx: event.clientX, sy: event.clientY }; moved = false; } });
  svg.addEventListener("pointermove", (event) => {
    if (!from || (!moved && Math.hypot(event.clientX - from.sx, event.clientY - from.sy) < 5)) return;
    if (!moved) svg.setPointerCapture(event.pointerId);
    moved = true; view.fitted = false; svg.classList.add("dragged");
    view.x = event.clientX - from.x; view.y = event.clientY - from.y; applyView();
  });
  const end = () => { from = null; svg.classList.remove("dragged"); };
  svg.addEventListener("pointerup", end); svg.addEventListener("pointercancel", end);
  svg.addEventListener("click", (event) => {
    if (moved) { moved = false; return; }
    const group = event.target.closest("[data-key]");
    if (group) { roving = group.dataset.key; activate(group.dataset.key); } else if (shown.selected) { shown.selected = ""; draw(); }
  });
  svg.addEventListener("focusin", (event) => { const group = event.target.closest("[data-key]"); if (group) { roving = group.dataset.key; setRoving(); } });
  svg.addEventListener("keydown", (event) => {
    const group = event.target.closest("[data-key]");
    if (!group || event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === "Enter") activate(group.dataset.key);
    else if (event.key === "ArrowDown") moveFocus(1);
    else if (event.key === "ArrowUp") moveFocus(-1);
    else return;
    event.preventDefault();
  });
  new ResizeObserver(() => { if (view.fitted) fit(); }).observe(svg);
}
