// Wires, their labels, and the tokens that run along them.
function routePath(points) {
  const f = (n) => points[n];
  let d = `M${f(0)} ${f(1)}`;
  for (let n = 2; n + 5 < points.length; n += 6) d += `C${points.slice(n, n + 6).join(" ")}`;
  return d;
}

function arrowHead(points) {
  const x = points[points.length - 2], y = points[points.length - 1];
  let angle = Math.PI / 2;
  for (let n = points.length - 4; n >= 0; n -= 2) {
    if (Math.hypot(x - points[n], y - points[n + 1]) > 0.5) { angle = Math.atan2(y - points[n + 1], x - points[n]); break; }
  }
  const length = 8, half = length * 0.58, cos = Math.cos(angle), sin = Math.sin(angle);
  const bx = x - length * cos, by = y - length * sin;
  return `M${x} ${y}L${bx - half * sin} ${by + half * cos}L${bx + half * sin} ${by - half * cos}z`;
}

// The style of a wire; past values are blue only during the forward pass.
function toneOf(mark, phase) {
  if (mark.active === "forward") return "forward";
  if (shown.gradients && mark.active === "backward") return "backward";
  if (shown.gradients && mark.share) return "share";
  return mark.carried && phase === "forward" ? "carried" : "";
}

function drawWire(item, mark, phase) {
  const tone = toneOf(mark, phase);
  item.line.setAttribute("class", `wire ${tone}${item.wire.dashed ? " broken" : ""}`);
  item.tip.setAttribute("class", `tip ${tone}`);
  const glows = tone === "forward" || tone === "backward";
  item.halo.setAttribute("class", glows ? `halo ${tone}` : "halo");
  item.halo.setAttribute("visibility", glows ? "visible" : "hidden");
}

function wireItem(entry) {
  const points = run.routes[entry[3]], wire = run.wires[entry[0]], d = routePath(points);
  const group = make("g", { "aria-hidden": "true" });
  const item = {
    entry, wire, group, points,
    halo: make("path", { d, visibility: "hidden" }), line: make("path", { d }), tip: make("path", { d: arrowHead(points) }),
  };
  group.append(item.halo, item.line, item.tip);
  if (wire.cut) group.append(scissors(item.line));
  return item;
}

function scissors(line) {
  const group = make("g", { class: "cut" });
  const { x, y } = line.getPointAtLength(line.getTotalLength() * 0.42);
  group.append(make("circle", { cx: x, cy: y, r: 8.5 }));
  group.append(make("path", { d: `M${x - 2.2} ${y + 1.5}L${x + 5} ${y - 3}M${x - 2.2} ${y - 1.5}L${x + 5} ${y + 3}` }));
  for (const side of [-1, 1]) group.append(make("circle", { cx: x - 3.6, cy: y + 2.6 * side, r: 1.9 }));
  return group;
}

// Labels stand on their wire, or next to it, where they cover least.
function placeLabels(layer, items, taken) {
  layer.replaceChildren();
  const boxes = taken.slice();
  const wishes = items.map((item) => [item, markOf(item.entry)]).filter(([item, mark]) => item.wire.part || (mark.label && shown.gradients));
  wishes.sort((a, b) => Number(Boolean(b[1].active)) - Number(Boolean(a[1].active)));
  for (const [item, mark] of wishes) {
    const isGradient = Boolean(mark.label && shown.gradients);
    const text = isGradient ? mark.label : item.wire.part.slice(0, 12);
    const px = isGradient ? 11 : 10, w = width(text, px, isGradient ? 600 : 500, !isGradient) + (isGradient ? 16 : 8), h = 18;
    const near = boxes.slice();
    if (mark.active) { const { x, y } = item.line.getPointAtLength(item.line.getTotalLength() / 2); near.push([x - 12, y - 12, x + 12, y + 12]); }
    const spot = bestSpot(item.line, w, h, near, isGradient);
    boxes.push([spot.x - w / 2, spot.y - h / 2, spot.x + w / 2, spot.y + h / 2]);
    const group = make("g", { class: `label${isGradient ? "" : " part"}${mark.active === "backward" ? " active" : ""}`, "aria-hidden": "true" });
    box(group, "", spot.x - w / 2, spot.y - h / 2, w, h, h / 2);
    write(group, text, spot.x, spot.y + 0.5, px, isGradient ? 600 : 500, "", "middle", !isGradient);
    layer.append(group);
  }
}

function bestSpot(line, w, h, boxes, isGradient) {
  const length = line.getTotalLength(), spots = [];
  const shares = isGradient ? [0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74, 0.18, 0.82] : [0.16, 0.22, 0.28, 0.1, 0.34];
  for (const share of shares) spots.push(line.getPointAtLength(length * share));
  for (const share of [0.62, 0.5, 0.38, 0.75, 0.25]) {
    const { x, y } = line.getPointAtLength(length * share);
    for (const side of [-1, 1]) spots.push({ x: x + side * (w / 2 + 7), y });
  }
  let best = spots[0], least = Infinity;
  spots.forEach((spot, rank) => {
    let cost = rank * 0.5;
    for (const [left, top, right, bottom] of boxes) {
      const across = Math.min(spot.x + w / 2 + 1, right) - Math.max(spot.x - w / 2 - 1, left);
      const down = Math.min(spot.y + h / 2 + 1, bottom) - Math.max(spot.y - h / 2 - 1, top);
      if (across > 0 && down > 0) cost += across * down * 10;
    }
    if (cost < least) { least = cost; best = spot; }
  });
  return best;
}

function moveToken(token, item, share, phase) {
  const length = item.line.getTotalLength(), eased = share < 0.5 ? 4 * share ** 3 : 1 - (2 - 2 * share) ** 3 / 2;
  const place = phase === "backward" ? 1 - eased : eased;
  const { x, y } = item.line.getPointAtLength(length * place);
  const near = item.line.getPointAtLength(Math.max(0, length * place - 2)), far = item.line.getPointAtLength(Math.min(length, length * place + 2));
  const angle = Math.atan2(far.y - near.y, far.x - near.x) * 180 / Math.PI + (phase === "backward" ? 180 : 0);
  token.setAttribute("transform", `translate(${x} ${y}) rotate(${angle})`);
}

function makeToken(phase) {
  const token = make("g", { class: `token ${phase}`, "aria-hidden": "true" });
  token.append(make("circle", { class: "light", r: 11 }));
  token.append(phase === "backward" ? make("path", { d: "M8.4 0L-5.8 -6.2L-2.8 0L-5.8 6.2z" }) : make("circle", { r: 5.2 }));
  return token;
}
