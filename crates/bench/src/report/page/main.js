// Puts the page together and redraws the series when a control changes.
const data = JSON.parse(document.getElementById("data").textContent);
const page = document.getElementById("page");
// Arms are shown by their labels alone, which tell them apart as names do.
const label = (arm) => data.labels.find((it) => it.arm === arm)?.label ?? arm;
data.parameters.arms = data.parameters.arms.map(label);
for (const it of [...data.verdict.arms, ...data.runs]) it.arm = label(it.arm);
const names = data.parameters.arms;
const drawn = data.runs.filter((run) => run.points.length);
const rounds = [...new Set(drawn.map((run) => run.round))].sort((a, b) => a - b);
const state = { mode: "operations", round: rounds[0] ?? 0, hidden: new Set() };

header(page, data);
totalsSection(page, data);
armsTable(page, data);
sessionsTable(page, data);
amplifications(page, data);

const PANELS = [
  { title: "Throughput", unit: "operations per second", pick: (p) => p.rate, text: rate, log: true },
  { title: "Latency", unit: "99th percentile of each interval, all operations", pick: (p) => p.p99, text: micros, log: true },
  { title: "Longest operation", unit: "of each interval: stalls stand out", pick: (p) => p.max, text: micros, log: true },
  { title: "Debt", unit: "bytes of merges and drains that have begun, and of an L0 that is due", pick: (p) => p.debt, text: bytes, of: (run) => !run.stock },
  { title: "Debt of stock RocksDB", unit: "its own estimate of what compactions have to move; none for its universal style", pick: (p) => p.debt, text: bytes, of: (run) => run.stock },
  { title: "Bytes on disk", unit: "table files, those being written included", pick: (p) => p.disk, text: bytes },
  { title: "Memory", unit: "resident bytes of the process", pick: (p) => p.memory, text: bytes },
];

if (drawn.length) {
  html("h2", {}, page, "Over time");
  html("p", { class: "note" }, page, "By operation, every session is equally wide and all arms show the same operation at the same place. By second, faster arms end earlier.");
  const controls = html("div", { class: "controls" }, page);
  const panels = html("div", { class: "card" }, page);
  html("h2", {}, page, "The tree");
  html("p", { class: "note" }, page, "Bytes in each level, newest at the bottom; below it the sorted runs of each level as lines, and the run limits as dashed lines where the arm has them. For stock RocksDB, the files of level 0 are runs, and every other level is one.");
  const trees = html("div", { class: "trees" }, page);
  buildControls(controls, () => redraw(panels, trees));
  redraw(panels, trees);
} else if (data.runs.length) html("p", { class: "note" }, page, "These results hold no samples: nothing can be drawn over time.");
if (data.supplement) supplementSection(page, data.supplement);
html("footer", {}, page, "Operations, data and fill phases are the same in every arm, and arms alternate within each round. Loading is not measured. Every workload closes with timed scans and point reads; what an arm still has to merge then is charged to it. Where a rate is offered, latency counts from the moment an operation was due. Reads are verified. A benchmark leaves the settings of every arm in <code>settings/</code> and all figures in <code>results.json</code>, beside this page.");

function buildControls(controls, changed) {
  const axis = html("span", { class: "group" }, controls, "axis");
  choice(axis, [["operations", "by operation"], ["seconds", "by second"]], "mode", changed);
  if (rounds.length > 1) choice(html("span", { class: "group" }, controls, "round"), rounds.map((r) => [r, r + 1]), "round", changed);
  names.forEach((name, i) => {
    const button = html("button", { "aria-pressed": "true" }, controls, `<span class="swatch" style="background:${colour(i)}"></span>${escaped(name)}`);
    button.addEventListener("click", () => {
      if (!state.hidden.delete(name)) state.hidden.add(name);
      button.setAttribute("aria-pressed", String(!state.hidden.has(name)));
      changed();
    });
  });
}
function choice(parent, options, field, changed) {
  const buttons = options.map(([value, text]) => {
    const button = html("button", { "aria-pressed": String(state[field] === value) }, parent, escaped(text));
    button.addEventListener("click", () => {
      state[field] = value;
      buttons.forEach((b) => b.setAttribute("aria-pressed", String(b === button)));
      changed();
    });
    return button;
  });
}

function redraw(panels, trees) {
  panels.replaceChildren(); trees.replaceChildren();
  const runs = drawn.filter((run) => run.round === state.round && !state.hidden.has(run.arm))
    .map((run) => ({ ...run, i: names.indexOf(run.arm) })).sort((a, b) => a.i - b.i);
  if (!runs.length) { html("p", { class: "note" }, panels, "No arm is chosen."); return; }
  const sessions = runs[0].sessions, longest = Math.max(...runs.map((run) => run.points[run.points.length - 1].at)) * 1.01;
  const axis = horizontal(sessions, state.mode, longest);
  for (const panel of PANELS) {
    const own = panel.of ? runs.filter(panel.of) : runs;
    if (own.length) drawPanel(panels, panel, own, axis, sessions);
  }
  for (const run of runs) drawTree(trees, run, axis, sessions);
}

function drawPanel(parent, panel, runs, axis, sessions) {
  const box = html("div", { class: "panel" }, parent, `<h3>${panel.title} <span>${panel.unit}</span></h3>`);
  const f = frame(box, 1120, 190, 74), values = runs.flatMap((run) => run.points.map(panel.pick)).filter((v) => v > 0);
  if (!values.length) { html("p", { class: "note" }, box, "Nothing was seen."); return; }
  const marks = panel.log ? decades(Math.min(...values), Math.max(...values)) : ticks(Math.max(...values) / 2 ** 20, 4).map((m) => m * 2 ** 20);
  const low = marks[0], high = marks[marks.length - 1], tall = f.bottom - f.top;
  const y = (v) => (panel.log ? f.bottom - (Math.log10(Math.max(v, low) / low) / Math.log10(high / low)) * tall : f.bottom - (v / high) * tall);
  const x = (p) => f.left + axis.of(p) * (f.right - f.left);
  drawBands(f, axis, state.mode, sessions);
  drawScale(f, marks, y, (m) => short(panel.text(m)));
  const height = (p) => { const v = panel.pick(p); return v == null ? null : y(v); };
  for (const run of runs) line(f, run.points, x, height, { stroke: colour(run.i), "stroke-width": 1.6, "stroke-dasharray": dash(run.i), opacity: 0.9 });
  hover(f, (place) => {
    const at = runs.map((run) => [run, nearest(run.points, axis, place)]);
    const title = state.mode === "seconds" ? seconds(place * axis.top) : sessions[at[0][1].session].name;
    return `<b>${escaped(title)}</b>${at.map(([run, p]) => `<div class="row"><span>${escaped(run.arm)}</span><span>${told(panel.text, panel.pick(p))}</span></div>`).join("")}`;
  });
}

function drawTree(parent, run, axis, sessions) {
  const card = html("div", { class: "card tree" }, parent, `<h3><span class="swatch" style="background:${colour(run.i)}"></span>${escaped(run.arm)}</h3>`);
  const levels = [...new Set(run.points.flatMap((p) => p.levels.map((l) => l.level)))].sort((a, b) => a - b);
  if (!levels.length) { html("p", { class: "note" }, card, "No level was seen."); return; }
  html("div", { class: "legend" }, card, levels.map((l) => `<span><span class="swatch" style="background:${levelColour(l)}"></span>level ${l}</span>`).join(""));
  const x = (f) => (p) => f.left + axis.of(p) * (f.right - f.left);
  const at = (p, level) => p.levels.find((l) => l.level === level);
  const size = frame(card, 540, 136, 62, 8), total = (p, upto) => levels.slice(0, upto).reduce((sum, l) => sum + (at(p, l)?.bytes ?? 0), 0);
  const marks = ticks(Math.max(...run.points.map((p) => total(p, levels.length))) / 2 ** 20, 4), top = marks[marks.length - 1] * 2 ** 20;
  drawBands(size, axis, state.mode, sessions, "none");
  drawScale(size, marks, (m) => size.bottom - ((m * 2 ** 20) / top) * (size.bottom - size.top), (m) => short(`${plain(m)} MiB`));
  const y = (v) => size.bottom - (v / top) * (size.bottom - size.top);
  levels.forEach((l, n) => area(size, run.points, x(size), (p) => y(total(p, n)), (p) => y(total(p, n + 1)), { fill: levelColour(l), opacity: 0.85 }));
  hover(size, (place) => treeTip(nearest(run.points, axis, place), sessions));
  const runs = frame(card, 540, state.mode === "seconds" ? 130 : 172, 62, state.mode === "seconds" ? 22 : 64), most = Math.max(2, ...run.points.flatMap((p) => p.levels.flatMap((l) => [l.runs, l.run_limit ?? 0])));
  const scale = ticks(most, 4).filter((m) => Number.isInteger(m)), high = Math.max(most, scale[scale.length - 1]);
  const yr = (v) => runs.bottom - (v / high) * (runs.bottom - runs.top);
  drawBands(runs, axis, state.mode, sessions, "slanted");
  drawScale(runs, scale, yr, (m) => (m === scale[scale.length - 1] ? `${m} run${m === 1 ? "" : "s"}` : m));
  levels.forEach((l, n) => {
    line(runs, run.points, x(runs), (p) => yr(at(p, l)?.runs ?? 0), { stroke: levelColour(l), "stroke-width": 1.7 });
    const limited = run.points.filter((p) => at(p, l)?.run_limit != null);
    if (limited.length) line(runs, limited, x(runs), (p) => yr(at(p, l).run_limit), { stroke: levelColour(l), "stroke-width": 1.2, "stroke-dasharray": "4 3" });
  });
  hover(runs, (place) => treeTip(nearest(run.points, axis, place), sessions));
}
function treeTip(p, sessions) {
  const rows = p.levels.map((l) => `<div class="row"><span>level ${l.level}</span><span>${bytes(l.bytes)}, ${l.runs} ${l.runs === 1 ? "run" : "runs"}${l.run_limit != null ? ` of ${l.run_limit}` : ""}, ${whole(l.files)} files</span></div>`);
  return `<b>${escaped(sessions[p.session].name)}</b>${rows.join("")}<div class="row"><span>still to merge</span><span>${told(bytes, p.debt)}</span></div>`;
}
