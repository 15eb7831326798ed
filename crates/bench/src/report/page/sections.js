// The parts of the page, from the data alone.
const colour = (i) => `var(--a${i % 14})`;
const dash = (i) => (i >= 10 ? "5 3" : "none");
const levelColour = (level) => `var(--l${Math.min(level, 6)})`;

function header(page, data) {
  const { parameters: p, machine, verdict } = data, r = p.resources;
  html("h1", {}, page, escaped(p.workload.name));
  html("p", { class: "about" }, page, escaped(p.workload.about));
  const facts = [
    [whole(p.workload.entries), "entries"], [verdict.complete_rounds, verdict.complete_rounds === 1 ? "round" : "rounds"],
    [p.threads, p.threads === 1 ? "thread" : "threads"], [p.seed, "seed"], [bytes(r.write_buffer_size), "write buffer"],
    [bytes(r.block_cache_size), "block cache"], [r.filter_bits_per_key, "filter bits per key"], [r.background_compactions, r.idle_cpu_priority || r.idle_io_priority ? "compaction workers, Lissom's give way" : "compaction workers"],
    [r.size_ratio, r.level_compaction_dynamic_level_bytes ? "size ratio at most" : "size ratio"], [r.direct_io ? "direct" : "buffered", "I/O"], [r.compression, "compression"],
    [machine.cores, `cores, ${machine.processor}`], [bytes(machine.memory_bytes), "memory"], [machine.system, ""],
    ...(p.offered ? [[`${plain(p.offered.share * 100)} %`, `of ${whole(p.offered.maximum)} operations/s, carried by ${p.offered.of ?? "the slowest arm"} in a closed loop`]] : []),
    ...data.programs.map((program) => [program, ""]),
  ];
  html("ul", { class: "facts" }, page, facts.map(([v, n]) => `<li><b>${escaped(v)}</b> ${escaped(n)}</li>`).join(""));
  for (const it of data.labels) html("p", { class: "schedule" }, page, `<b>${escaped(it.label)}:</b> ${escaped(it.sessions.join(", "))}`);
  const said = [...verdict.cautions, ...data.failures.map((f) => `${f.made_good ? "Failed, and succeeded when it was run again" : "Failed"}: ${f.sentence}`)];
  if (said.length) html("div", { class: "warn" }, page, `<strong>Before you believe it</strong><ul>${said.map((s) => `<li>${escaped(s)}</li>`).join("")}</ul>`);
}

// A bound without the luck of a minimum over noisy medians, where the rounds allow it.
const sober = (bound) => (bound.in_other_rounds ? { seconds: bound.in_other_rounds.mean_seconds, headroom: bound.in_other_rounds.headroom } : bound);
const signed = (v) => `${v < 0 ? "−" : ""}${plain(Math.abs(v))}`;
const percent = (gap) => `${signed(gap.share * 100)} %`;
// Whether the two bounds are over different arms.
const both = (h) => h.switchable && h.switchable.arms.length < h.all.arms.length;

function totalsSection(page, data) {
  const { verdict } = data, h = verdict.headroom;
  if (!verdict.arms.length) { html("p", { class: "note" }, page, "No round is complete yet: there is nothing to judge."); return; }
  html("h2", {}, page, "How long each arm took");
  html("p", { class: "note" }, page, "Time of all closed sessions with the closing one, and the debt: how long each arm then took to come to rest with nobody beside it, or, in older results, what it still wanted to merge at its own compaction speed. Whiskers span the rounds.");
  const hero = html("div", { class: "card hero" }, page), side = html("div", {}, hero);
  if (h) { standings(side, data, h); headroomText(side, h); }
  else html("p", {}, side, data.empty_hull);
  totals(html("div", {}, hero), data);
}

// Who differs from the best static arm, and who does not.
function standings(side, data, h) {
  const { verdict } = data;
  html("p", { class: "of" }, side, "The best static arm");
  html("div", { class: "big" }, side, escaped(h.best_static));
  if (verdict.complete_rounds < data.least_rounds) { html("p", {}, side, `<b>No claim: ${verdict.complete_rounds} of ${data.least_rounds} rounds.</b>`); return; }
  for (const [standing, words] of [["win", "Less time than it"], ["tie", "Ties with it"], ["loss", "More time than it"]]) {
    const arms = verdict.arms.filter((a) => a.arm !== h.best_static && a.standing === standing);
    if (arms.length) html("p", {}, side, `<span class="${standing}">${words}:</span> ${arms.map((a) => escaped(a.arm)).join(", ")}`);
  }
}

function headroomText(side, h) {
  const own = h.switchable || h.all, won = sober(own);
  const whose = h.switchable ? "One store that had the best of Lissom's static limits in each session" : "The best static arm of each session";
  html("p", { class: "of" }, side, "What switching could win at most");
  html("p", {}, side, `<b>${percent(won.headroom)}</b>. ${whose} would take ${seconds(won.seconds)}.${own.inside_spread ? " That is inside the best arm's spread: there is nothing to win here." : ""}`);
  if (both(h)) html("p", {}, side, `Over all static arms it is ${percent(sober(h.all).headroom)}, and ${seconds(sober(h.all).seconds)}; but no store can switch between stock RocksDB and Lissom.`);
  if (own.in_other_rounds) html("p", {}, side, `By medians alone it would be ${percent(own.headroom)}. A minimum over noisy medians is partly luck (the winner's curse), so each session's arm is chosen in the other rounds here, and timed in this one; the truth lies between the two.`);
  html("p", {}, side, h.oracle_seconds ? `A real run that switches with perfect knowledge took ${figure(h.oracle_seconds)} s.` : "No real run with perfect knowledge was made within the space bound.");
}

function totals(parent, data) {
  const { verdict } = data, h = verdict.headroom;
  const arms = verdict.arms.map((a, i) => ({ ...a, i })).sort((a, b) => a.total_seconds.median - b.total_seconds.median);
  const row = 30, f = frame(parent, 860, arms.length * row + 68, 176, 54);
  const bounds = h ? [[both(h) ? "best of each session, any arm" : "best of each session", sober(h.all).seconds], ...(both(h) ? [["best of each session, one store", sober(h.switchable).seconds]] : [])] : [];
  const marks = ticks(Math.max(...arms.map((a) => a.total_seconds.max), ...bounds.map((b) => b[1])), 6), top = marks[marks.length - 1];
  const x = (v) => f.left + (v / top) * (f.right - f.left - 70);
  for (const t of marks) {
    element("line", { x1: x(t), x2: x(t), y1: f.top, y2: f.bottom, class: "grid" }, f.svg);
    element("text", { x: x(t), y: f.bottom + 15, "text-anchor": "middle" }, f.svg, short(`${plain(t)} s`));
  }
  arms.forEach((arm, n) => {
    const y = f.top + n * row + 5, middle = y + 10, total = arm.total_seconds;
    named(arm.arm, 24, { x: f.left - 10, y: middle + 4, "text-anchor": "end", class: "strong" }, f.svg);
    const debt = arm.debt_seconds?.median ?? 0, work = Math.max(0, total.median - debt);
    const bar = element("rect", { x: x(0), y, width: Math.max(1, x(work) - x(0)), height: 20, rx: 3, fill: colour(arm.i), opacity: arm.over_space_bound ? 0.35 : 0.9 }, f.svg);
    if (debt > 0) element("rect", { x: x(work), y, width: x(total.median) - x(work), height: 20, fill: "none", stroke: colour(arm.i), "stroke-dasharray": "3 2" }, f.svg);
    if (total.values.length > 1) element("path", { d: `M${x(total.min)} ${middle}H${x(total.max)}M${x(total.min)} ${middle - 4}v8M${x(total.max)} ${middle - 4}v8`, class: "whisker", fill: "none" }, f.svg);
    element("text", { x: x(total.max) + 8, y: middle + 4, class: "strong" }, f.svg, seconds(total.median));
    bar.addEventListener("mousemove", (e) => showTip(e, `<b>${escaped(arm.arm)}</b>${arm.sessions.filter((s) => !s.open).map((s) => `<div class="row"><span>${escaped(s.name)}</span><span>${figure(s.seconds)} s</span></div>`).join("")}<div class="row"><span>debt</span><span>${told((f) => `${figure(f)} s`, arm.debt_seconds)}</span></div>`));
    bar.addEventListener("mouseleave", () => { tip.style.display = "none"; });
  });
  bounds.forEach(([name, bound], n) => {
    const at = x(bound), anchor = at < f.left + 90 ? "start" : at > f.right - 90 ? "end" : "middle";
    element("line", { x1: at, x2: at, y1: f.top - 4, y2: f.bottom, class: "bound" }, f.svg);
    element("text", { x: at, y: f.bottom + 29 + n * 14, "text-anchor": anchor, style: "fill:var(--accent)" }, f.svg, `${name}: ${seconds(bound)}`);
  });
}

// A figure that is no ground for a claim stands in brackets.
const bracketed = (text, noClaim) => (noClaim ? `<span class="tie">(${text})</span>` : text);

// Rows of cells under titles; both may hold elements.
function table(parent, titles, rows) {
  const row = (cells, kind) => `<tr>${cells.map((cell) => `<${kind}>${cell}</${kind}>`).join("")}</tr>`;
  html("table", {}, html("div", { class: "card scroll" }, parent), `<thead>${row(titles, "th")}</thead><tbody>${rows.map((cells) => row(cells, "td")).join("")}</tbody>`);
}
const armCell = (arm, i) => `<span class="swatch" style="background:${colour(i)}"></span>${escaped(arm.arm)}${arm.over_space_bound ? '<span class="tag out">over the space bound</span>' : ""}`;

function armsTable(page, data) {
  const { verdict, parameters } = data, h = verdict.headroom;
  if (!verdict.arms.length) return;
  html("h2", {}, page, "What each arm did, and what it cost");
  html("p", { class: "note" }, page, `Medians; ± is half the range over the rounds. Where ranges meet it is a tie. (max) is the most of any round. Space bound: ${plain(parameters.space_bound)} times the existing data.${verdict.write_shortfall ? " Write amplifications in brackets span too little of the tree's phases for a claim." : ""}`);
  table(page, ["arm", "total, s", "debt, s", "to best static", "write amp", "read amp", "space, peak", "space, end", "stalled, s", "largest merge (max)", "memory"], verdict.arms.map((a, i) => {
    const share = h ? (a.total_seconds.median / h.best_static_seconds.median - 1) * 100 : 0;
    const away = `${share >= 0 ? "+" : "−"}${plain(Math.abs(share))} %`;
    const standing = !h ? "" : a.arm === h.best_static ? "best static" : a.standing ? `<span class="${a.standing}">${a.standing} ${away}</span>` : `<span class="tie">${away}</span>`;
    return [armCell(a, i), figure(a.total_seconds), told((f) => figure(f), a.debt_seconds), standing, a.write_amplification ? bracketed(figure(a.write_amplification), verdict.write_shortfall) : "–", a.read_amplification ? figure(a.read_amplification) : "–",
      figure(a.peak_space_amplification), figure(a.end_space_amplification), figure(a.stall_seconds), bytes(a.largest_piece_bytes.max), figure(a.memory_bytes, inBytes)];
  }));
  const tail = (f) => (f ? figure(f, inMicros) : "–");
  html("p", { class: "note" }, page, "Latencies of closed sessions, from the moment an operation was sent. Where a rate is offered they count from the moment it was due, and stand by session alone.");
  table(page, ["arm", "p99.9 write", "p99.9 read", "p99.9 scan", "longest write (max)", "longest operation (max)"], verdict.arms.map((a, i) => [armCell(a, i),
    tail(a.write_p999), tail(a.read_p999), tail(a.scan_p999), a.longest_write ? micros(a.longest_write.max) : "–", micros(a.longest_operation.max)]));
}

// Arms beside each other in the table of sessions.
const ABREAST = 9;

function sessionsTable(page, data) {
  const arms = data.verdict.arms;
  if (!arms.length) return;
  html("h2", {}, page, "Session by session");
  html("p", { class: "note" }, page, "Seconds where the loop is closed, the 99.9th percentile where a rate is offered. The darker a cell, the farther its median from the lowest of its row; bold are the best and who shares its rank. Arms with perfect knowledge or over the space bound, and all settings of the thresholds but the best by total, are neither bold nor shaded nor the lowest.");
  const judged = (s) => (s.open ? s.p999 : s.seconds);
  const rivals = arms.filter((a) => a.is_rival);
  const lowest = arms[0].sessions.map((_, i) => Math.min(...(rivals.length ? rivals : arms).map((a) => judged(a.sessions[i]).median)));
  const cell = (a, i) => {
    const c = a.sessions[i], over = lowest[i] > 0 ? judged(c).median / lowest[i] : 1;
    const shade = a.is_rival ? Math.max(0, Math.min(0.42, Math.log2(over) * 0.16)) : 0;
    return `<td class="${c.best ? "best" : ""}" style="background:rgba(var(--cell),${shade.toFixed(3)})" title="${plain(over)} times the lowest${c.read_amplification ? `; ${plain(c.read_amplification.median)} data blocks from files per read` : ""}">${figure(judged(c), c.open ? inMicros : bare)}</td>`;
  };
  for (let from = 0; from < arms.length; from += ABREAST) {
    const some = arms.slice(from, from + ABREAST);
    const rows = some[0].sessions.map((session, i) => `<tr><td>${escaped(session.name)}${session.open ? '<span class="tag">offered rate</span>' : ""}</td>${some.map((a) => cell(a, i)).join("")}</tr>`);
    html("table", {}, html("div", { class: "card scroll" }, page), `<thead><tr><th>session</th>${some.map((a) => `<th>${escaped(a.arm)}</th>`).join("")}</tr></thead><tbody>${rows.join("")}</tbody>`);
  }
}

function amplifications(page, data) {
  const arms = data.verdict.arms;
  if (!arms.length) return;
  html("h2", {}, page, "Amplifications");
  const card = html("div", { class: "card" }, page), bound = data.parameters.space_bound;
  card.style.cssText = "display:grid;grid-template-columns:repeat(auto-fit,minmax(320px,1fr));gap:24px";
  const noClaim = data.verdict.write_shortfall ? "; in brackets, for it spans too little for a claim" : "";
  const kinds = [["Write amplification", `bytes written to files per byte written by the user${noClaim}`, (a) => a.write_amplification], ["Read amplification", "data blocks read from files per get or scan", (a) => a.read_amplification], ["Space amplification at its peak", "bytes on disk over existing data", (a) => a.peak_space_amplification]];
  for (const [title, about, pick] of kinds) {
    const shown = arms.map((a, i) => ({ name: a.arm, i, figure: pick(a) })).filter((a) => a.figure);
    const box = html("div", { class: "panel" }, card, `<h3>${title} <span>${about}</span></h3>`);
    if (!shown.length) { html("p", { class: "note" }, box, title.startsWith("Write") ? "Nothing was written." : "Nothing was read, or blocks were not counted."); continue; }
    const f = frame(box, 350, shown.length * 24 + 32, 142), space = title.startsWith("Space");
    const top = Math.max(...shown.map((s) => s.figure.max), space ? bound : 0, 1e-9) * 1.02, x = (v) => f.left + (v / top) * (f.right - f.left - 52);
    shown.forEach((s, n) => {
      const y = f.top + n * 24 + 3, middle = y + 8;
      named(s.name, 22, { x: f.left - 8, y: middle + 4, "text-anchor": "end" }, f.svg);
      element("rect", { x: x(0), y, width: Math.max(1, x(s.figure.median) - x(0)), height: 16, rx: 3, fill: colour(s.i), opacity: 0.9 }, f.svg);
      if (s.figure.values.length > 1) element("path", { d: `M${x(s.figure.min)} ${middle}H${x(s.figure.max)}`, class: "whisker" }, f.svg);
      element("text", { x: x(s.figure.max) + 7, y: middle + 4, class: "strong" }, f.svg, noClaim && title.startsWith("Write") ? `(${plain(s.figure.median)})` : plain(s.figure.median));
    });
    if (space) {
      element("line", { x1: x(bound), x2: x(bound), y1: f.top - 4, y2: f.bottom, class: "bound" }, f.svg);
      element("text", { x: x(bound), y: f.bottom + 14, "text-anchor": "middle", style: "fill:var(--accent)" }, f.svg, `bound ${plain(bound)}`);
    }
  }
}

// What is no part of the benchmark: a picture, and the command that makes it again. As an image
// it keeps its own colours.
function supplementSection(page, it) {
  html("h2", {}, page, escaped(it.heading));
  html("p", { class: "note" }, page, escaped(it.note));
  const source = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(it.picture)}`;
  html("img", { class: "picture", src: source, alt: it.alternative }, html("div", { class: "card scroll" }, page));
  html("p", { class: "note" }, page, `${escaped(it.again)}:`);
  html("pre", { class: "card scroll" }, page, escaped(it.command));
}
