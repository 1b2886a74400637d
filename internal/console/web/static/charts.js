// Draws each table of figures above it. Without this the tables are all there is.
import uPlot from "./uplot.js";

const number = (text) => {
  const n = Number.parseFloat(text.replace(/\s/g, ""));
  return Number.isNaN(n) ? null : n;
};

const short = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 2 });

// read returns the columns of a table as numbers, and its texts.
const read = (figure) => {
  const rows = [...figure.querySelectorAll("tbody tr")];
  const from = Number(figure.dataset.from), step = Number(figure.dataset.step);
  const names = [...figure.querySelectorAll("thead th")].slice(1).map((th) => th.textContent);
  const data = [rows.map((_, i) => from + i * step), ...names.map((_, k) => rows.map((tr) => number(tr.cells[k + 1].textContent)))];
  const texts = rows.map((tr) => `${tr.cells[0].textContent.trim()}: ` + names.map((name, k) => `${tr.cells[k + 1].textContent.trim()} ${name}`).join(", "));
  return { names, data, texts };
};

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

const draw = (figure) => {
  const place = figure.querySelector(".plot"), readout = figure.querySelector(".readout");
  const { names, data, texts } = read(figure);
  const axis = { stroke: colour("--dim"), grid: { stroke: colour("--line"), width: 1 }, ticks: { stroke: colour("--line"), width: 1 }, font: "11px system-ui, sans-serif" };
  const dashes = [undefined, [6, 4], [2, 3]];
  return new uPlot({
    width: place.clientWidth, height: 190, legend: { show: false }, cursor: { y: false, drag: { x: false, y: false } },
    tzDate: (at) => uPlot.tzDate(new Date(at * 1000), "Etc/UTC"),
    scales: { y: { range: (_, __, max) => [0, (max || 1) * 1.08] } },
    axes: [axis, { ...axis, size: 48, values: (_, all) => all.map((v) => short.format(v)) }],
    series: [{}, ...names.map((name, k) => ({
      label: name, stroke: colour(`--line${k}`), width: 1.8, dash: dashes[k], points: { show: data[0].length < 60 || data[k + 1].includes(null), size: 4, fill: colour(`--line${k}`) },
    }))],
    hooks: { setCursor: [(u) => { readout.textContent = texts[u.cursor.idx] ?? ""; }] },
  }, data, place);
};

for (const figure of document.querySelectorAll("[data-plot]")) {
  let plot = draw(figure);
  const place = figure.querySelector(".plot");
  new ResizeObserver(() => plot.setSize({ width: place.clientWidth, height: 190 })).observe(place);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { plot.destroy(); plot = draw(figure); });
}
