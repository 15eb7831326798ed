// Numbers as a reader wants them. All shown text passes through `escaped` or textContent.
const digits = (v) => (Math.abs(v) >= 100 ? 0 : Math.abs(v) >= 10 ? 1 : 2);
const plain = (v) => v.toLocaleString("en", { maximumFractionDigits: digits(v), minimumFractionDigits: digits(v) });
const seconds = (v) => `${plain(v)} s`;
const micros = (v) => (v >= 1e6 ? `${plain(v / 1e6)} s` : v >= 1e3 ? `${plain(v / 1e3)} ms` : `${plain(v)} µs`);
const bytes = (v) => (v >= 2 ** 30 ? `${plain(v / 2 ** 30)} GiB` : v >= 2 ** 20 ? `${plain(v / 2 ** 20)} MiB` : `${Math.round(v / 1024)} KiB`);
const rate = (v) => (v >= 1e6 ? `${plain(v / 1e6)} M/s` : v >= 1e3 ? `${plain(v / 1e3)} k/s` : `${Math.round(v)} /s`);
// What may be absent.
const told = (text, v) => (v == null ? "–" : text(v));
// Without zeros behind the point, for axes.
const short = (text) => text.replace(/\.0+(?=\D|$)/, "").replace(/(\.\d*?)0+(?=\D|$)/, "$1");
const whole = (v) => Math.round(v).toLocaleString("en");
const escaped = (text) => String(text).replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);
// Units for values of a size: what one is worth, and its name.
const bare = () => [1, ""];
const inMicros = (v) => (v >= 1e6 ? [1e6, " s"] : v >= 1e3 ? [1e3, " ms"] : [1, " µs"]);
const inBytes = (v) => (v >= 2 ** 30 ? [2 ** 30, " GiB"] : v >= 2 ** 20 || v <= 0 ? [2 ** 20, " MiB"] : [1024, " KiB"]);
// A median with half the range over the rounds, both in one unit.
const figure = (f, unit = bare) => {
  const half = f.values.length < 2 ? 0 : (f.max - f.min) / 2, size = Math.max(Math.abs(f.median), half);
  const [worth, name] = unit(size), d = digits(size / worth);
  const shown = (v) => (v / worth).toLocaleString("en", { maximumFractionDigits: d, minimumFractionDigits: d });
  return shown(f.median) + (f.values.length < 2 ? "" : `<span class="spread">±${shown(half)}</span>`) + name;
};

// Round steps for an axis from 0 to `top`.
function ticks(top, wanted) {
  if (!(top > 0)) return [0, 1];
  const raw = top / wanted, power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((s) => s >= raw);
  const list = [];
  for (let v = 0; v < top + step * 0.999; v += step) list.push(v);
  return list;
}
// Powers of ten around a range.
function decades(low, high) {
  const list = [];
  for (let e = Math.floor(Math.log10(low)); e <= Math.ceil(Math.log10(high)); e++) list.push(10 ** e);
  return list.length > 1 ? list : [list[0], list[0] * 10];
}
