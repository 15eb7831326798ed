// SVG by hand: elements, the shared horizontal axis, lines, steps and areas.
const SVG = "http://www.w3.org/2000/svg";
function element(name, attributes, parent, text) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes || {})) node.setAttribute(key, value);
  if (text !== undefined) node.textContent = text;
  if (parent) parent.append(node);
  return node;
}
function html(name, attributes, parent, inner) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) node.setAttribute(key, value);
  if (inner !== undefined) node.innerHTML = inner;
  if (parent) parent.append(node);
  return node;
}

// A name of at most so many letters; the whole one is its title.
function named(name, room, attributes, parent) {
  const label = element("text", attributes, parent, name.length > room ? `${name.slice(0, Math.max(1, room - 1))}…` : name);
  element("title", {}, label, name);
}

// Horizontal axis: by operation, every session equally wide, so that all arms show the
// same operation at the same place; or by second.
function horizontal(sessions, mode, longest) {
  if (mode === "seconds") return { top: longest, of: (p) => p.at / longest };
  const n = sessions.length;
  return { top: n, of: (p) => (p.session + p.share) / n };
}

function frame(parent, width, height, left, foot = 22) {
  const svg = element("svg", { viewBox: `0 0 ${width} ${height}` }, parent);
  return { svg, width, height, left, right: width - 8, top: 8, bottom: height - foot };
}
// Bands for sessions, or lines for seconds. `labels`: level, slanted, or none.
function drawBands(f, axis, mode, sessions, labels = "level") {
  const span = f.right - f.left;
  if (mode === "seconds") {
    for (const t of ticks(axis.top, 8).filter((t) => t <= axis.top)) {
      const x = f.left + (t / axis.top) * span;
      element("line", { x1: x, x2: x, y1: f.top, y2: f.bottom, class: "grid" }, f.svg);
      if (labels !== "none") element("text", { x, y: f.bottom + 15, "text-anchor": "middle" }, f.svg, short(`${plain(t)} s`));
    }
    return;
  }
  const w = span / sessions.length, room = Math.floor(w / 5.9);
  sessions.forEach((session, i) => {
    if (i % 2) element("rect", { x: f.left + i * w, y: f.top, width: w, height: f.bottom - f.top, class: "band" }, f.svg);
    if (labels === "none") return;
    if (labels === "slanted") {
      const x = f.left + (i + 0.5) * w + 4, y = f.bottom + 11;
      element("text", { x, y, "text-anchor": "end", transform: `rotate(-32 ${x} ${y})`, style: "font-size:9.5px" }, f.svg, session.name);
      return;
    }
    named(session.name, room, { x: f.left + (i + 0.5) * w, y: f.bottom + 15, "text-anchor": "middle" }, f.svg);
  });
}
function drawScale(f, marks, y, text) {
  for (const mark of marks) {
    element("line", { x1: f.left, x2: f.right, y1: y(mark), y2: y(mark), class: "grid" }, f.svg);
    element("text", { x: f.left - 7, y: y(mark) + 4, "text-anchor": "end" }, f.svg, text(mark));
  }
}
// A line that breaks between sessions when these do not follow each other in time, and where
// there is nothing to draw.
function line(f, points, x, y, attributes) {
  let path = "", previous = -1;
  for (const p of points) {
    const height = y(p);
    if (height == null) { previous = -1; continue; }
    path += `${p.session === previous ? "L" : "M"}${x(p).toFixed(1)} ${height.toFixed(1)}`;
    // A session of one point would be invisible.
    if (p.session !== previous) path += `h0.01`;
    previous = p.session;
  }
  return element("path", { d: path, fill: "none", "stroke-linejoin": "round", "stroke-linecap": "round", ...attributes }, f.svg);
}
function area(f, points, x, low, high, attributes) {
  if (!points.length) return null;
  const up = points.map((p) => `${x(p).toFixed(1)} ${high(p).toFixed(1)}`);
  const down = points.map((p) => `${x(p).toFixed(1)} ${low(p).toFixed(1)}`).reverse();
  return element("path", { d: `M${up.join("L")}L${down.join("L")}Z`, ...attributes }, f.svg);
}

const tip = document.getElementById("tip");
function showTip(event, inner) {
  tip.innerHTML = inner;
  tip.style.display = "block";
  const box = tip.getBoundingClientRect();
  const x = Math.min(event.clientX + 16, innerWidth - box.width - 10);
  const y = Math.min(event.clientY + 16, innerHeight - box.height - 10);
  tip.style.left = `${x}px`;
  tip.style.top = `${y}px`;
}
// A cursor line, and a tip that `inner` makes of the place between 0 and 1.
function hover(f, inner) {
  const cursor = element("line", { y1: f.top, y2: f.bottom, class: "cursor", visibility: "hidden" }, f.svg);
  const pane = element("rect", { x: f.left, y: f.top, width: f.right - f.left, height: f.bottom - f.top, fill: "transparent" }, f.svg);
  pane.addEventListener("mousemove", (event) => {
    const box = pane.getBoundingClientRect();
    const place = Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
    const x = f.left + place * (f.right - f.left);
    cursor.setAttribute("x1", x); cursor.setAttribute("x2", x); cursor.setAttribute("visibility", "visible");
    showTip(event, inner(place));
  });
  pane.addEventListener("mouseleave", () => { tip.style.display = "none"; cursor.setAttribute("visibility", "hidden"); });
}
const nearest = (points, axis, place) => points.reduce((best, p) => (Math.abs(axis.of(p) - place) < Math.abs(axis.of(best) - place) ? p : best), points[0]);
