// Pictures of a search: repeats, curves, the best so far, contributions.

// Round marks that hold 0 and all values.
function marksAround(values) {
  const low = values.reduce((a, v) => Math.min(a, v), 0), high = values.reduce((a, v) => Math.max(a, v), 0);
  const step = ticks(high - low, 4)[1], marks = [];
  for (let at = Math.floor(low / step); at * step < high + step * 0.999; at++) marks.push(at * step);
  return marks.length > 1 ? marks : [0, step];
}
function vertical(f, values, text) {
  const marks = marksAround(values), low = marks[0], high = marks[marks.length - 1];
  const y = (v) => f.bottom - ((v - low) / (high - low)) * (f.bottom - f.top);
  drawScale(f, marks, y, (m) => short(text(m)));
  return y;
}
function legend(parent, entries) {
  html("div", { class: "legend" }, parent, entries.map(([colour, words, dot]) => `<span class="key" style="color:${colour}"><i${dot ? ' class="dot"' : ""}></i><span style="color:var(--soft)">${escaped(words)}</span></span>`).join(""));
}

// Each repeat is a dot, the median a bar.
function repeats(parent, goal, g) {
  const verdict = data.verdict.goals[g], text = formatOf(goal.name);
  const rows = CONTENDERS.filter((c) => verdict.figures[c]);
  if (!rows.length) { html("p", { class: "note" }, parent, "No round of repeats is complete."); return; }
  const f = frame(parent, 860, rows.length * 40 + 34, 92), marks = marksAround(rows.flatMap((c) => verdict.figures[c].values));
  const low = marks[0], high = marks[marks.length - 1], x = (v) => f.left + ((v - low) / (high - low)) * (f.right - f.left - 90);
  for (const m of marks) {
    element("line", { x1: x(m), x2: x(m), y1: f.top, y2: f.bottom, class: "grid" }, f.svg);
    element("text", { x: x(m), y: f.bottom + 15, "text-anchor": "middle" }, f.svg, short(text(m)));
  }
  rows.forEach((c, n) => {
    const figure = verdict.figures[c], y = f.top + n * 40 + 6, middle = y + 13;
    element("text", { x: f.left - 10, y: middle + 4, "text-anchor": "end", class: "strong" }, f.svg, nameOf(c));
    const from = Math.min(x(0), x(figure.median)), width = Math.max(1, Math.abs(x(figure.median) - x(0)));
    element("rect", { x: from, y, width, height: 26, rx: 3, fill: COLOURS[roleOf(c)], opacity: 0.28 }, f.svg);
    if (figure.values.length > 1) element("path", { d: `M${x(figure.min)} ${middle}H${x(figure.max)}M${x(figure.min)} ${middle - 5}v10M${x(figure.max)} ${middle - 5}v10`, class: "whisker", fill: "none" }, f.svg);
    figure.values.forEach((v, round) => {
      const dot = element("circle", { cx: x(v), cy: middle, r: 4, fill: COLOURS[roleOf(c)] }, f.svg);
      tipped(dot, () => `<b>${escaped(nameOf(c))}</b>, round ${round + 1}: ${escaped(text(v))}`);
    });
    element("text", { x: x(figure.max) + 11, y: middle + 4, class: "strong" }, f.svg, text(figure.median));
  });
}

// A goal over each trial's running time: throughput as it was sampled, others as they
// were compared.
function curves(parent, goal, g) {
  const sampled = goal.name === "throughput" && data.trials.some((t) => t.series.length);
  const pointsOf = (t) => sampled ? t.series.map((s) => ({ at: s.second, v: s.throughput })) : t.readings.filter((r) => r.values.length).map((r) => ({ at: r.seconds, v: r.values[g] }));
  const runs = data.trials.map((t) => ({ t, role: role(t), points: pointsOf(t) })).filter((run) => run.points.length);
  const box = html("div", { class: "panel" }, parent, `<h3>${escaped(goal.name)} <span>${sampled ? "as it was sampled" : "averaged from the start, at each comparison"}</span></h3>`);
  if (!runs.length) { html("p", { class: "note" }, box, "No trial was measured."); return; }
  const order = ["other", "default", "runner-up", "best"];
  runs.sort((a, b) => order.indexOf(a.role) - order.indexOf(b.role));
  const present = order.filter((r) => runs.some((run) => run.role === r)).reverse();
  legend(box, [...present.map((r) => [COLOURS[r], r === "other" ? "other trials" : r]), ["var(--ink)", "stopped there", true]]);
  const f = frame(box, 1120, 300, 74), longest = Math.max(data.evaluation_seconds, most(runs, (run) => most(run.points, (p) => p.at))) * 1.01;
  drawBands(f, { top: longest }, "seconds", []);
  const text = formatOf(goal.name), y = vertical(f, runs.flatMap((run) => run.points.map((p) => p.v)), text);
  const x = (p) => f.left + (p.at / longest) * (f.right - f.left);
  for (const at of data.points) {
    element("line", { x1: x({ at }), x2: x({ at }), y1: f.top, y2: f.bottom, class: "bound" }, f.svg);
  }
  // Whoever ran as far as any was stopped by the end of the search.
  const farthest = Math.max(data.evaluation_seconds, most(data.trials, (t) => t.seconds));
  for (const run of runs) {
    const other = run.role === "other";
    line(f, run.points, x, (p) => y(p.v), { class: "run", stroke: COLOURS[run.role], "stroke-width": other ? 1 : 2.2, opacity: other ? 0.55 : 1 });
    const last = run.points[run.points.length - 1], ended = run.t.seconds < 0.99 * farthest;
    if (run.t.failure) element("path", { d: `M${x(last) - 4} ${y(last.v) - 4}l8 8m0 -8l-8 8`, stroke: COLOURS.failed, "stroke-width": 2, fill: "none" }, f.svg);
    else if (ended) element("circle", { cx: x(last), cy: y(last.v), r: other ? 2.6 : 4, fill: COLOURS[run.role] }, f.svg);
    tipped(line(f, run.points, x, (p) => y(p.v), { class: "grip" }), () => trialTip(run.t));
  }
}

// Every measurement by the clock. Early figures are of an unsettled store, so the best
// so far is that of the first comparison, which all trials have in common.
function progress(parent, goal, g) {
  const readings = data.trials.flatMap((t) => t.readings.filter((r) => r.values.length).map((r) => ({ t, at: r.spent, seconds: r.seconds, v: r.values[g] }))).sort((a, b) => a.at - b.at);
  const again = data.repeats.filter((r) => r.values).map((r) => ({ at: r.spent, v: r.values[g], contender: r.contender, round: r.round }));
  const box = html("div", { class: "panel" }, parent, `<h3>${escaped(goal.name)} <span>by the clock</span></h3>`);
  if (!readings.length) { html("p", { class: "note" }, box, "Nothing was measured."); return; }
  const keys = [["var(--accent)", data.points.length ? `best so far after ${plain(data.points[0])} s of running` : "best so far"], [COLOURS.other, "measured", true]];
  if (again.length) keys.push([COLOURS["runner-up"], "repeats of the runner-up", true], [COLOURS.default, "of the default", true], [COLOURS.best, "of the best", true]);
  legend(box, keys);
  const f = frame(box, 1120, 230, 74), longest = Math.max(data.spent_seconds, most(readings, (r) => r.at)) * 1.01;
  drawBands(f, { top: longest }, "seconds", []);
  const text = formatOf(goal.name), y = vertical(f, [...readings, ...again].map((r) => r.v), text);
  const x = (at) => f.left + (at / longest) * (f.right - f.left);
  for (const r of readings) {
    const dot = element("circle", { cx: x(r.at), cy: y(r.v), r: 3, fill: COLOURS.other, opacity: 0.8 }, f.svg);
    tipped(dot, () => `<b>${escaped(text(r.v))}</b> after ${escaped(clock(r.seconds))} of running${trialTip(r.t)}`);
  }
  for (const r of again) {
    const dot = element("circle", { cx: x(r.at), cy: y(r.v), r: 4, fill: COLOURS[roleOf(r.contender)] }, f.svg);
    tipped(dot, () => `<b>${escaped(text(r.v))}</b>, ${escaped(nameOf(r.contender))}, round ${r.round}`);
  }
  const first = data.points.length ? data.points[0] * 0.99 : 0, seen = new Set();
  let path = "", best = null;
  for (const r of readings) {
    if (r.seconds < first || seen.has(r.t.trial)) continue;
    seen.add(r.t.trial);
    const better = best === null || (maximised(goal) ? r.v > best : r.v < best);
    path += best === null ? `M${x(r.at)} ${y(r.v)}` : `H${x(r.at)}${better ? `V${y(r.v)}` : ""}`;
    if (better) best = r.v;
  }
  if (path) element("path", { d: path, class: "run", stroke: COLOURS.best, "stroke-width": 2.4 }, f.svg);
}

// What parameters bring: filled where the best was run without them, hollow where the
// trials alone tell.
function contributions(parent, goal, g) {
  const measured = data.contributions.filter((c) => c.gains).map((c) => ({ ...c.difference, gain: c.gains[g], spread: c.spreads[g], measured: true }));
  const estimated = data.estimates.filter((e) => e.goal.name === goal.name && !measured.some((m) => m.name === e.difference.name)).map((e) => ({ ...e.difference, gain: e.gain, spread: e.error, measured: false }));
  const rows = [...measured, ...estimated];
  const box = html("div", { class: "panel" }, parent, `<h3>${escaped(goal.name)} <span>by which share the best is better than without</span></h3>`);
  if (!rows.length) { html("p", { class: "note" }, box, "Nothing differs, or nothing can be told."); return; }
  const f = frame(box, 1120, rows.length * 28 + 30, 330);
  const marks = marksAround(rows.flatMap((r) => [r.gain - (r.measured ? 0 : r.spread), r.gain + (r.measured ? 0 : r.spread), -r.spread, r.spread]));
  const low = marks[0], high = marks[marks.length - 1], x = (v) => f.left + ((v - low) / (high - low)) * (f.right - f.left - 80);
  for (const m of marks) {
    element("line", { x1: x(m), x2: x(m), y1: f.top, y2: f.bottom, class: m === 0 ? "zero" : "grid" }, f.svg);
    element("text", { x: x(m), y: f.bottom + 15, "text-anchor": "middle" }, f.svg, short(percent(m)));
  }
  rows.forEach((r, n) => {
    const y = f.top + n * 28 + 4, middle = y + 10, colour = r.gain >= 0 ? "var(--good)" : "var(--bad)";
    element("text", { x: f.left - 10, y: middle + 4, "text-anchor": "end", class: "strong" }, f.svg, r.name);
    if (r.measured && r.spread > 0) element("rect", { x: x(-r.spread), y: y - 3, width: x(r.spread) - x(-r.spread), height: 26, class: "stripe" }, f.svg);
    const shape = r.measured ? { fill: colour, opacity: 0.85 } : { fill: "none", stroke: colour, "stroke-dasharray": "4 3" };
    const bar = element("rect", { x: Math.min(x(0), x(r.gain)), y, width: Math.max(1, Math.abs(x(r.gain) - x(0))), height: 20, rx: 3, ...shape }, f.svg);
    if (!r.measured) element("path", { d: `M${x(r.gain - r.spread)} ${middle}H${x(r.gain + r.spread)}`, class: "whisker" }, f.svg);
    const end = r.measured ? Math.max(0, r.gain) : Math.max(0, r.gain + r.spread);
    element("text", { x: x(end) + 8, y: middle + 4, class: "strong" }, f.svg, percent(r.gain));
    tipped(bar, () => `<b>${escaped(r.name)}</b><div class="row"><span>default</span><span>${escaped(r.from)}</span></div><div class="row"><span>best</span><span>${escaped(r.to)}</span></div><div>${r.measured ? "measured: one run of the best without it" : `estimated from the trials, ±${plain(r.spread * 100)} %`}</div>`);
  });
}
