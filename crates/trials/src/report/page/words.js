// Names, colours and formats of a search. All shown text passes through `escaped` or textContent.
const data = JSON.parse(document.getElementById("data").textContent);
const page = document.getElementById("page");
const CONTENDERS = ["best", "runner-up", "default"];
const COLOURS = { best: "var(--accent)", "runner-up": "var(--a1)", default: "var(--a2)", other: "var(--faint)", failed: "var(--bad)" };
const maximised = (goal) => goal.direction === "maximise";
const formatOf = (name) => (name === "throughput" ? rate : name.endsWith("_micros") ? micros : name.endsWith("_bytes") ? bytes : plain);
const percent = (v) => `${v >= 0 ? "+" : "−"}${plain(Math.abs(v) * 100)} %`;
const most = (list, of) => list.reduce((sum, x) => Math.max(sum, of(x)), 0);

function clock(seconds) {
  const s = Math.round(seconds), two = (v) => String(v).padStart(2, "0");
  if (s >= 3600) return `${Math.floor(s / 3600)} h ${two(Math.floor(s / 60) % 60)} min`;
  return s >= 60 ? `${Math.floor(s / 60)} min ${two(s % 60)} s` : `${s} s`;
}
// A setting as RocksDB spells it; bytes also as a reader wants them.
function setting(value, unit) {
  if (value === null || value === undefined) return "–";
  const exact = escaped(value);
  return unit === "bytes" && typeof value === "number" && value >= 1024 ? `<span title="${exact}">${escaped(bytes(value))}</span>` : exact;
}
// What a contender is after the repeats: they may choose another than the search did.
const roleOf = (contender) => (contender === data.chosen ? "best" : contender === "best" ? "runner-up" : contender);
const nameOf = (contender) => (data.chosen === "best" ? contender : contender === data.chosen ? `${contender}, chosen` : contender === "best" ? "search's best" : contender);
// What a trial stands for among the contenders.
function role(trial) {
  if (data.best && trial.trial === data.best.trial) return "best";
  if (trial.place === (data.chosen === "best" ? 2 : 1)) return "runner-up";
  return trial.origin === "the default configuration" ? "default" : "other";
}
function trialTip(trial) {
  const changes = trial.changes.slice(0, 9).map((c) => `<div class="row"><span>${escaped(c.name)}</span><span>${escaped(c.to)}</span></div>`);
  const rest = trial.changes.length > 9 ? `<div>and ${trial.changes.length - 9} more</div>` : "";
  const place = trial.place ? `place ${trial.place} of ${data.trials.length}` : "not placed";
  return `<b>trial ${trial.trial}</b>, ${escaped(trial.origin)}<div>${place}, ran ${escaped(clock(trial.seconds))}</div>${changes.join("") || "<div>nothing differs from the default</div>"}${rest}`;
}
function tipped(node, inner) {
  node.addEventListener("mousemove", (event) => showTip(event, inner()));
  node.addEventListener("mouseleave", () => { tip.style.display = "none"; });
}
