// Transport, keyboard, theme, and the start of the page.
let timer = 0, begun = false;

function say(text) { get("says").textContent = text; }

function drawButtons() {
  get("play").textContent = shown.playing ? t("Pause") : t("Play");
  get("play").setAttribute("aria-label", shown.playing ? t("Pause") : t("Play"));
  get("back").disabled = get("reset").disabled = shown.position === 0;
  get("step").disabled = shown.position === last;
  get("play").disabled = last === 0;
  for (const name of ["values", "gradients", "shapes"]) get(name).setAttribute("aria-pressed", String(shown[name]));
  const counts = sceneNow().states.map((state) => state.open.length), now = stateNow().open.length;
  get("fold").hidden = get("unfold").hidden = counts.length < 2;
  get("fold").disabled = now === Math.min(...counts);
  get("unfold").disabled = now === Math.max(...counts);
  get("scene").hidden = !sceneNow().title;
  get("scene").textContent = sceneNow().title;
}

function drawTrack() {
  get("scrub").value = String(shown.position);
  get("scrub").setAttribute("aria-valuetext", `Event ${shown.position} of ${last}: ${run.events[shown.position][3]}`);
  [...get("phases").children].forEach((part, number) => {
    const [, start, stop] = run.track[number];
    const share = Math.max(0, Math.min(1, (shown.position - start) / (stop - start)));
    part.querySelector("span").style.width = `${100 * share}%`;
  });
}

function buildTrack() {
  get("scrub").max = String(last);
  const many = run.track.length > 24;
  for (const [phase, start, stop] of run.track) {
    const kind = { Forward: "forward", Loss: "loss", Backward: "backward" }[phase] || "update";
    const part = make("div", { class: kind }), strip = make("i");
    part.style.flexGrow = String(stop - start);
    strip.append(make("span"));
    part.append(make("b"), strip);
    get("phases").append(part);
  }
  if (many) get("phases").style.gap = "0";
  new ResizeObserver(labelTrack).observe(get("phases"));
}

// A label that does not fit above its strip is left out.
function labelTrack() {
  [...get("phases").children].forEach((part, number) => {
    const text = run.track[number][0];
    part.querySelector("b").textContent = width(text, 12, 600) <= part.clientWidth + 1 ? text : "";
  });
}

function draw(isWhole = false) {
  drawGraph(isWhole);
  drawCode(); drawExplanation(); drawTable(); drawTrack(); drawButtons();
}

function go(position, speaks = true) {
  position = Math.max(0, Math.min(last, Math.round(position)));
  if (position === shown.position && begun) return;
  shown.position = position;
  const scene = sceneAt(position), open = new Set(stateNow().open), isNew = scene !== shown.scene;
  if (isNew) {
    shown.scene = scene;
    shown.state[scene] = Math.max(0, nearestState(sceneNow(), open, "", false));
  }
  draw(isNew);
  if (speaks) say(run.events[position][3]);
}

function play() {
  if (shown.playing) { pause(); return; }
  if (shown.position === last) go(0);
  shown.playing = true;
  drawButtons();
  turn();
}

function turn() {
  clearTimeout(timer);
  if (!shown.playing) return;
  if (shown.position >= last) { pause(); return; }
  go(shown.position + 1);
  timer = setTimeout(turn, Math.max(30, 2.4 * run.events[shown.position][2] / shown.speed));
}

function pause() { shown.playing = false; clearTimeout(timer); drawButtons(); }

function isDark() {
  const theme = document.documentElement.dataset.theme;
  return theme ? theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

function nameTheme() { get("theme").textContent = isDark() ? t("Light") : t("Dark"); get("theme").setAttribute("aria-label", isDark() ? t("Light theme") : t("Dark theme")); }
function switchTheme() { document.documentElement.dataset.theme = isDark() ? "light" : "dark"; nameTheme(); }
function switchLayer(name) { shown[name] = !shown[name]; draw(true); }

const KEYS = {
  " ": play, ArrowRight: () => { pause(); go(shown.position + 1); }, ArrowLeft: () => { pause(); go(shown.position - 1); },
  Home: () => { pause(); go(0); }, End: () => { pause(); go(last); }, t: switchTheme, 0: fit,
  "+": () => zoomBy(1.25), "=": () => zoomBy(1.25), "-": () => zoomBy(0.8),
  1: () => switchLayer("values"), 2: () => switchLayer("gradients"), 3: () => switchLayer("shapes"),
  Escape: () => { shown.selected = ""; draw(); },
};

function listen() {
  const clicks = {
    reset: KEYS.Home, back: KEYS.ArrowLeft, step: KEYS.ArrowRight, play, fit, theme: switchTheme, deselect: KEYS.Escape,
    in: KEYS["+"], out: KEYS["-"], fold: () => showExtreme(false), unfold: () => showExtreme(true),
  };
  for (const [id, act] of Object.entries(clicks)) get(id).addEventListener("click", act);
  for (const name of ["values", "gradients", "shapes"]) get(name).addEventListener("click", () => switchLayer(name));
  get("scrub").addEventListener("input", () => { pause(); go(Number(get("scrub").value)); });
  get("speed").addEventListener("input", () => {
    shown.speed = 2 ** Number(get("speed").value);
    get("speedText").textContent = `${Number(shown.speed.toFixed(2))}×`;
  });
  document.addEventListener("keydown", (event) => {
    const act = KEYS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!act || event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented) return;
    const on = event.target;
    // Buttons take the space bar, sliders the arrows.
    if (on.matches("input") || (event.key === " " && on.matches("button"))) return;
    if (event.key.startsWith("Arrow") && on.matches(".scroll, .cells") && on.scrollWidth > on.clientWidth) return;
    event.preventDefault();
    act();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", nameTheme);
}

buildPanels(); buildTrack(); buildLayers(); listenGraph(); listen(); nameTheme();
go(run.error ? last : 0, false);
begun = true;
fit();
