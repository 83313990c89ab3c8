// The run, and what the page shows of it.
const run = JSON.parse(document.getElementById("run").textContent);
// The text in the language of the page, with values for its {placeholders}.
function t(text, values = {}) { return (run.texts[text] ?? text).replace(/\{(\w+)\}/g, (_, name) => values[name]); }
const last = run.events.length - 1;
const shown = {
  position: 0, scene: 0, state: run.scenes.map(() => 0), selected: "", playing: false, speed: 1,
  values: true, gradients: true, shapes: true,
};

// A timeline alternates positions and states from there on.
function at(timeline, position) {
  let low = 0, high = timeline.length / 2;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (timeline[2 * middle] <= position) low = middle + 1; else high = middle;
  }
  return low ? timeline[2 * low - 1] : -1;
}

// The scene of a position is that of the event before it.
function sceneAt(position) {
  let found = 0;
  run.scenes.forEach((scene, number) => { if (scene.start < position) found = number; });
  return found;
}

function sceneNow() { return run.scenes[shown.scene]; }
function stateNow() { return sceneNow().states[shown.state[shown.scene]]; }
function cardOf(entry) { return run.cards[entry[0]]; }
function readingOf(entry) { return run.readings[at(run.timelines[entry[3]], shown.position)]; }
function markOf(entry) { return run.marks[at(run.timelines[entry[4]], shown.position)]; }

// A page has not every combination of open modules: of the states in which the module is open (or
// folded) as wanted, take the one that differs least from the wanted combination.
function nearestState(scene, wanted, key, open) {
  let best = -1, least = Infinity;
  scene.states.forEach((state, number) => {
    if (key && state.open.includes(key) !== open) return;
    const differs = state.open.filter((name) => !wanted.has(name)).length
      + [...wanted].filter((name) => !state.open.includes(name)).length;
    if (differs < least) { least = differs; best = number; }
  });
  return best;
}

function canToggle(key) {
  const open = stateNow().open.includes(key);
  return sceneNow().states.some((state) => state.open.includes(key) !== open && isKnown(state, key));
}

function isKnown(state, key) {
  return state.open.includes(key) || state.cards.some((entry) => cardOf(entry).key === key);
}

function make(name, attributes = {}, text = "") {
  const isSvg = ["svg", "g", "path", "rect", "circle", "text", "title"].includes(name);
  const element = isSvg ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text) element.textContent = text;
  return element;
}

const pen = document.createElement("canvas").getContext("2d");
const widths = new Map();
function width(text, px, weight, mono = false) {
  const key = `${px} ${weight} ${mono} ${text}`;
  if (!widths.has(key)) {
    const family = getComputedStyle(document.documentElement).getPropertyValue(mono ? "--mono" : "--ui");
    pen.font = `${weight} ${px}px ${family}`;
    widths.set(key, pen.measureText(text).width);
  }
  return widths.get(key);
}

// A text that fits: numbers lose decimals, shapes their spaces, other texts their end.
function fitted(text, room, px, weight, mono = false) {
  const fits = (form) => width(form, px, weight, mono) <= room;
  if (!text || fits(text)) return text;
  const tight = text.replace(/ × /g, "×");
  if (tight !== text && fits(tight)) return tight;
  const point = /^[-−]?\d[\d,]*\./.exec(text);
  if (point && /^[-−\d.,]+$/.test(text)) {
    for (let end = text.length - 2; end > point[0].length; end--) if (fits(`${text.slice(0, end)}…`)) return `${text.slice(0, end)}…`;
  }
  const letters = [...text];
  while (letters.length && !fits(`${letters.join("")}…`)) letters.pop();
  return letters.length ? `${letters.join("")}…` : "";
}
