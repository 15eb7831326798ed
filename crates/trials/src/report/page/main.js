// Puts the page together.
function header() {
  html("h1", {}, page, escaped(`${data.space} on ${data.target}`));
  html("p", { class: "about" }, page, escaped(data.about));
  const failed = data.trials.filter((t) => t.failure).length;
  const facts = [
    [data.objective, "sought"], ...data.constraints.map((c) => [c, "kept"]), [data.trials.length, data.trials.length === 1 ? "trial" : "trials"],
    [failed, "failed"], [data.arms, data.arms === 1 ? "arm" : "arms"], [clock(data.spent_seconds), `of ${clock(data.budget_seconds)}`],
    [clock(data.evaluation_seconds), "full evaluation"], [data.points.map((p) => plain(p)).join(", ") || "–", "s: compared then"],
    [data.workers, data.workers === 1 ? "at a time" : "at once"], [data.seed, "seed"], ...data.constants.map(([name, value]) => [name.endsWith("memory") || name.endsWith("bytes") ? bytes(value) : whole(value), name]),
  ];
  html("ul", { class: "facts" }, page, facts.map(([v, n]) => `<li><b>${escaped(v)}</b> ${escaped(n)}</li>`).join(""));
  if (data.cautions.length) html("div", { class: "warn" }, page, `<strong>Before you believe it</strong><ul>${data.cautions.map((s) => `<li>${escaped(s)}</li>`).join("")}</ul>`);
}

function hero() {
  if (!data.best) return;
  html("h2", {}, page, "What was found");
  const card = html("div", { class: "card hero" }, page), side = html("div", {}, card), main = html("div", {}, card);
  const goal = data.goals[0], verdict = data.verdict && data.verdict.goals[0];
  const against = verdict && verdict.comparisons.find((c) => c.against === data.default);
  if (against) {
    html("div", { class: "big" }, side, escaped(`${plain(Math.abs(against.gain) * 100)} %`));
    html("p", {}, side, `${against.gain < 0 ? "worse" : "better"} than the default: ${escaped(goal.name)} of the best, trial ${escaped(data.best.trial)}. ${escaped(against.standing === "tie" ? "That is inside the spread: it may be chance." : "That is outside the spread of all rounds.")}`);
  } else {
    const row = data.trials.find((t) => t.trial === data.best.trial), last = row && row.readings[row.readings.length - 1];
    html("div", { class: "big" }, side, last && last.values.length ? escaped(formatOf(goal.name)(last.values[0])) : "–");
    html("p", {}, side, `${escaped(goal.name)} of the best, trial ${escaped(data.best.trial)}. ${data.best.is_default ? "It is the default configuration." : "It was not run again beside the default."}`);
  }
  if (data.verdict) {
    html("p", { class: "note" }, main, `Each dot is a run of ${escaped(clock(data.repeat_seconds || 0))}, taken by turns after the search; bars are medians.`);
    data.goals.forEach((each, g) => { html("h3", { style: "font-size:13.5px;margin:6px 0 2px" }, main, escaped(each.name)); repeats(main, each, g); });
  } else html("p", { class: "note" }, main, "There are no repeats: the budget left no time for them.");
}

function section(title, note, draw) {
  html("h2", {}, page, escaped(title));
  if (note) html("p", { class: "note" }, page, escaped(note));
  draw();
}
const perGoal = (draw) => () => { const card = html("div", { class: "card" }, page); data.goals.forEach((goal, g) => draw(card, goal, g)); };

header();
hero();
if (data.best) section("The configuration", "What the best sets otherwise than the default, and what that brings: measured by running the best without it, or estimated from the trials where no time was left. Shares need not sum to the whole.", () => { measuredWith(page); parametersTable(page); });
if (data.contributions.length || data.estimates.length) section("What each option brings", "Filled bars were measured, one run each; the band around 0 is the spread of the best's own repeats, and a bar inside it may be chance. Dashed bars are estimates with their standard error: options that the search moved together show the same.", perGoal(contributions));
if (data.verdict) section("The verdict", "The best, the runner-up and the default run again, each round holding all of them and beginning with another. " + (data.seeded ? "Each round had operations of its own, the same for all in it." : "Whether rounds differ in their operations is for the program to know: {seed} in the command tells it the round."), () => verdictTable(page));
section("Trials over their running time", "Set-up and pauses are left out. Dashed lines are the comparisons: there the worse half is stopped and the better half runs on.", perGoal(curves));
section("How the search went", "Every measurement when it was made. A figure of a short run is not comparable to one of a long run, since stores settle slowly.", perGoal(progress));
section("Trials", `The search ended: ${data.reason}.`, () => trialsTable(page));
section("Failures", "A configuration that crashes, hangs or does not open is a bad one, not the end.", () => failuresTable(page));
if (data.notes.length) section("Notes", "", () => html("ul", { class: "sentences" }, page, data.notes.map((s) => `<li>${escaped(s)}</li>`).join("")));
html("footer", {}, page, "Everything measured stands in the search's log, which later searches of the same space and target learn from.");
