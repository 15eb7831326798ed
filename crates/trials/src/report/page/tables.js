// Tables of a search. Cells are escaped where they are made.
function table(parent, titles, rows, attributes = {}) {
  const head = titles.map(([title, kind]) => `<th class="${kind || ""}">${escaped(title)}</th>`).join("");
  const body = rows.map((row) => `<tr class="${row.mark || ""}">${row.cells.map((cell, i) => `<td class="${titles[i][1] || ""}">${cell}</td>`).join("")}</tr>`).join("");
  const card = html("div", { class: "card scroll" }, parent);
  html("table", { class: "left", ...attributes }, card, `<thead><tr>${head}</tr></thead><tbody>${body}</tbody>`);
}
function folded(parent, words) {
  const details = html("details", {}, parent);
  html("summary", {}, details, escaped(words));
  return details;
}

function brings(name) {
  const measured = data.contributions.find((c) => c.difference.name === name), bound = data.bound.find((b) => b.difference.name === name);
  const estimates = data.estimates.filter((e) => e.difference.name === name);
  if (measured && !measured.gains) return "without it the trial failed";
  if (measured) return measured.gains.map((gain, g) => `<span class="${Math.abs(gain) <= measured.spreads[g] ? "tie" : gain > 0 ? "win" : "loss"}">${percent(gain)}</span>`).join(", ");
  if (estimates.length) return estimates.map((e) => `<span class="tie">about ${percent(e.gain)} ±${plain(e.error * 100)} %</span>`).join(", ");
  return bound ? `<span class="tie">not alone: <code>${escaped(bound.rule)}</code></span>` : '<span class="tie">unknown</span>';
}
function measuredWith(parent) {
  if (!data.measured_with.length) return;
  const all = data.measured_with.map(([name, value]) => `<code>${escaped(name)}=${escaped(value)}</code>`).join(", ");
  html("p", { class: "note" }, parent, `Measured with ${all}, in all trials alike.`);
}
function parametersTable(parent) {
  const titles = [["option"], ["default", "number from"], ["best", "number to"], ["unit"], ["brings"], ["takes effect"]];
  const row = (p) => ({ cells: [`<code${p.note ? ` title="${escaped(p.note)}"` : ""}>${escaped(p.name)}</code>`, setting(p.default, p.unit), setting(p.best, p.unit), escaped(p.unit || ""), p.differs ? brings(p.name) : "", escaped(p.change)] });
  const differing = data.parameters.filter((p) => p.differs), rest = data.parameters.filter((p) => !p.differs);
  if (differing.length) table(parent, titles, differing.map(row));
  else html("p", { class: "note" }, parent, "Nothing differs from the default.");
  if (rest.length) table(folded(parent, `${rest.length} options that are as by default`), titles, rest.map(row));
}

function verdictTable(parent) {
  const { verdict } = data;
  for (const [g, goal] of verdict.goals.entries()) {
    const text = formatOf(goal.goal.name), rounds = Array.from({ length: verdict.complete_rounds }, (_, i) => [`round ${i + 1}`, "number"]);
    const titles = [[goal.goal.name], ["median", "number"], ["± half the range", "number"], ...rounds, ["failed", "number"]];
    const rows = CONTENDERS.filter((c) => goal.figures[c]).map((c) => {
      const f = goal.figures[c], half = (f.max - f.min) / 2;
      return { mark: c === data.chosen ? "row-best" : "", cells: [`<span class="swatch" style="background:${COLOURS[roleOf(c)]}"></span>${escaped(nameOf(c))}`, `<b>${escaped(text(f.median))}</b>`, escaped(text(half)), ...f.values.map((v) => escaped(text(v))), escaped(verdict.failures[c] || "")] };
    });
    table(parent, titles, rows);
    html("ul", { class: "sentences" }, parent, goal.comparisons.map((c) => `<li>${escaped(comparison(c))}</li>`).join(""));
  }
}
function comparison(c) {
  const much = `${plain(Math.abs(c.gain) * 100)} % ${c.gain < 0 ? "worse" : "better"} than the ${nameOf(c.against)} by the median of ${c.rounds} rounds`;
  if (c.rounds < 3) return `${much}, which are too few to tell.`;
  return c.standing === "tie" ? `${much}: inside the spread, a tie.` : `${much}: outside the spread; were both the same, chance would do as well with probability ${plain(c.chance)}.`;
}

function trialsTable(parent) {
  const titles = [["trial", "number"], ["place", "number"], ["why"], ["ran", "number"], ["set-up", "number"], ...data.goals.map((g) => [g.name, "number"]), ["what became of it"]];
  const rows = data.trials.map((t) => {
    const last = t.readings[t.readings.length - 1], fate = t.failure ? `<span class="loss">${escaped(t.failure.cause)}</span>` : escaped(t.stopped || "");
    const values = data.goals.map((goal, g) => (last && last.values.length ? escaped(formatOf(goal.name)(last.values[g])) : "–"));
    const why = `<span title="${escaped(t.why)}">${escaped(t.origin)}</span>${t.arm ? `<br><span class="tie">${escaped(t.arm)}</span>` : ""}`;
    return { mark: role(t) === "best" ? "row-best" : "", cells: [escaped(t.trial), escaped(t.place || "–"), why, escaped(clock(t.seconds)), escaped(clock(t.setup_seconds)), ...values, fate] };
  });
  table(folded(parent, `${data.trials.length} trials`), titles, rows);
}
function failuresTable(parent) {
  const failed = data.trials.filter((t) => t.failure);
  if (!failed.length) { html("p", { class: "note" }, parent, "No trial failed."); return; }
  const changes = (t) => t.changes.map((c) => `<code>${escaped(c.name)}=${escaped(c.to)}</code>`).join(", ") || "the default";
  table(parent, [["trial", "number"], ["cause"], ["what was said"], ["what it set"]], failed.map((t) => ({ cells: [escaped(t.trial), escaped(t.failure.cause), `<code>${escaped(t.failure.detail)}</code>`, changes(t)] })), { class: "left failures" });
}
