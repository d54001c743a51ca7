// Every <table data-chart> gets a chart drawn from its own cells above it; the table stays, folded. Chart.js comes only then.
const drawn = new Map();
let library;

function load() {
  library ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = document.querySelector('meta[name="muster-chart"]').content;
    script.onload = () => resolve(window.Chart);
    script.onerror = reject;
    document.head.append(script);
  });
  return library;
}

// Untoned series take the colours that are furthest from any tone's first, so that a mixed chart stays readable.
const ORDER = [5, 8, 4, 3, 1, 2, 6, 7];
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
// A cell that holds no number is a gap, not a zero.
const number = (cell) => {
  const text = cell?.dataset.value ?? cell?.textContent.replace(/[^\d.-]/g, "") ?? "";
  return text === "" ? null : Number(text) || 0;
};

function read(table) {
  const heads = [...table.tHead.rows[0].cells].slice(1);
  const rows = [...table.tBodies[0].rows];
  const labels = rows.map((row) => row.cells[0].dataset.label ?? row.cells[0].textContent.trim());
  let plain = 0;
  const tone = (cell, n) => (cell.dataset.tone ? `--m-${cell.dataset.tone}-solid` : `--m-series-${ORDER[n % 8]}`);
  const series = heads.map((head, n) => ({
    label: head.textContent.trim(),
    tone: tone(head, head.dataset.tone ? 0 : plain++),
    data: rows.map((row) => number(row.cells[n + 1])),
  }));
  return { labels, series, tones: rows.map((row, n) => tone(row.cells[0], n)) };
}

function settings(table) {
  const kind = table.dataset.chart;
  const { labels, series, tones } = read(table);
  const [ink, lines] = [colour("--m-chart-ink"), colour("--m-chart-line")];
  const round = kind === "doughnut";
  const stacked = kind === "stacked";
  const scale = { ticks: { color: ink }, grid: { color: lines }, border: { color: lines }, stacked };
  return {
    type: round ? "doughnut" : kind === "line" ? "line" : "bar",
    data: {
      labels,
      datasets: series.map(({ label, tone, data }) => ({
        label, data,
        backgroundColor: round ? tones.map(colour) : colour(tone),
        borderColor: kind === "line" ? colour(tone) : colour("--m-chart-paper"),
        borderWidth: kind === "line" ? 2 : round ? 2 : 0,
        borderRadius: round ? 0 : 2, maxBarThickness: 40, pointRadius: data.length > 60 ? 0 : 2, tension: 0.2,
      })),
    },
    options: {
      animation: matchMedia("(prefers-reduced-motion: reduce)").matches ? false : { duration: 250 },
      responsive: true, maintainAspectRatio: false, indexAxis: kind === "horizontal" ? "y" : "x",
      interaction: { mode: round ? "nearest" : "index", intersect: round },
      plugins: { legend: { display: round || series.length > 1, position: round ? "right" : "bottom", labels: { color: ink, boxWidth: 12, boxHeight: 12 } } },
      scales: round ? {} : { x: { ...scale, ticks: { color: ink, maxRotation: 0, autoSkipPadding: 12 }, grid: { display: kind === "horizontal", color: lines } }, y: { ...scale, beginAtZero: true } },
    },
  };
}

async function draw(table) {
  const Chart = await load();
  const figure = table.closest("figure");
  let frame = figure.querySelector(".chart-frame");
  if (!frame) {
    frame = document.createElement("div");
    frame.className = `chart-frame chart-${table.dataset.chart}`;
    const canvas = document.createElement("canvas");
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", `${table.getAttribute("aria-label")}; the table below has the numbers`);
    frame.append(canvas);
    figure.querySelector("details").before(frame);
    figure.querySelector("details").open = false;
  }
  drawn.get(table)?.destroy();
  Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
  drawn.set(table, new Chart(frame.firstChild, settings(table)));
}

document.body.addEventListener("htmx:load", (event) => {
  const part = event.detail.elt;
  for (const table of drawn.keys()) if (!table.isConnected) { drawn.get(table).destroy(); drawn.delete(table); }
  for (const table of part.querySelectorAll("table[data-chart]")) draw(table);
});
document.addEventListener("muster:theme", () => { for (const table of drawn.keys()) draw(table); });
