// Draws the trends with the theme's own Chart.js, from the numbers that the page carries as JSON; a table beside the charts
// says the same. Colours are the theme's, and change with it.
"use strict";

(function () {
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--color-${name}`).trim();
  const isDark = () => document.documentElement.classList.contains("dark");

  // In the order in which they are stacked; told apart by more than hue: light, middle, dark.
  const STACK = [
    ["answered", "Answered", { light: "#16a34a", dark: "#4ade80" }],
    ["empty", "Empty", { light: "#f59e0b", dark: "#fbbf24" }],
    ["failed", "Failed", { light: "#b91c1c", dark: "#f87171" }],
  ];

  function bars(data) {
    return STACK.map(([name, label, shades]) => ({
      label,
      data: data[name],
      backgroundColor: isDark() ? shades.dark : shades.light,
      stack: "calls",
    }));
  }

  function line(label, values) {
    const stroke = colour(isDark() ? "primary-400" : "primary-600");
    const points = values.filter((value) => value !== null).length;
    return { label, data: values, borderColor: stroke, backgroundColor: stroke, borderWidth: 2, pointRadius: points > 40 ? 1 : 3, spanGaps: true };
  }

  // The interval as a band between two lines that are not drawn.
  function band(data, name, label) {
    const edge = { borderWidth: 0, pointRadius: 0, pointHitRadius: 0, spanGaps: true };
    const fill = isDark() ? "rgb(168 85 247 / 25%)" : "rgb(147 51 234 / 15%)";
    return [
      line(label, data[name]),
      { label: "low", data: data[`${name}_low`], ...edge },
      { label: "high", data: data[`${name}_high`], ...edge, backgroundColor: fill, fill: "-1" },
    ];
  }

  const KINDS = {
    use: (data) => ({ type: "bar", datasets: bars(data), stacked: true }),
    seconds: (data) => ({ type: "line", datasets: [line("Mean seconds", data.seconds)] }),
    failures: (data) => ({ type: "line", datasets: band(data, "failures", "Failed or empty"), most: 100, of: data.failures_of }),
    useful: (data) => ({ type: "line", datasets: band(data, "useful", "Useful"), most: 100, of: data.useful_of }),
  };

  function said(kind, item) {
    const value = `${item.dataset.label}: ${item.formattedValue}`;
    if (!kind.of) return value;
    const [, low, high] = kind.datasets.map((set) => set.data[item.dataIndex]);
    return `${value} % of ${kind.of[item.dataIndex]}, ${low} to ${high} %`;
  }

  function options(kind) {
    const ink = colour(isDark() ? "base-300" : "base-600");
    const grid = { color: colour(isDark() ? "base-800" : "base-200") };
    return {
      animation: false,
      maintainAspectRatio: false,
      interaction: { mode: "index", intersect: false },
      plugins: {
        legend: { display: Boolean(kind.stacked), labels: { color: ink, boxWidth: 12 } },
        tooltip: {
          filter: (item) => !["low", "high"].includes(item.dataset.label),
          callbacks: { label: (item) => said(kind, item) },
        },
      },
      scales: {
        x: { stacked: kind.stacked, ticks: { color: ink, maxTicksLimit: 8, maxRotation: 0 }, grid: { display: false } },
        y: { stacked: kind.stacked, beginAtZero: true, max: kind.most, ticks: { color: ink, precision: 0 }, grid },
      },
    };
  }

  function draw(canvas, data) {
    Chart.getChart(canvas)?.destroy();
    const kind = KINDS[canvas.dataset.chart](data);
    return new Chart(canvas, { type: kind.type, data: { labels: data.labels, datasets: kind.datasets }, options: options(kind) });
  }

  for (const charts of document.querySelectorAll("[data-charts]")) {
    const data = JSON.parse(document.getElementById(charts.dataset.charts).textContent);
    const all = () => charts.querySelectorAll("canvas").forEach((canvas) => draw(canvas, data));
    all();
    let dark = isDark();
    new MutationObserver(() => {
      if (dark !== isDark()) {
        dark = isDark();
        all();
      }
    }).observe(document.documentElement, { attributeFilter: ["class"] });
  }
})();
