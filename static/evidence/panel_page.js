// A panel's page while its seats run: what has changed is fetched and put in its place; what is read or typed in stays.
import { fetched, listen } from "./live.js";

const page = document.querySelector("[data-live-panel]");

// Put the parts of an answer of the server's in place of the page's, and say what has come.
export function swap(parts, said) {
  const focused = document.activeElement?.id;
  const summary = parts.querySelector("#panel-summary");
  if (summary) document.getElementById("panel-summary")?.replaceWith(summary);
  const arrived = [];
  for (const seat of parts.querySelectorAll("[data-seat]")) {
    const shown = document.getElementById(seat.id);
    if (shown) {
      shown.replaceWith(seat);
      if (shown.dataset.status !== seat.dataset.status) arrived.push(seat);
    } else {
      document.querySelector("[data-answers]")?.append(seat);
    }
  }
  if (focused && document.activeElement?.id !== focused) {
    document.getElementById(focused)?.focus({ preventScroll: true });
  }
  started = performance.now();
  say(said || arrived.map((seat) => seat.querySelector("h3").innerText.replace(/\s+/g, " ")).join("; "));
}

export function say(words) {
  if (words) page.querySelector("[data-said]").textContent = words;
}

async function refresh() {
  const seats = [...document.querySelectorAll("[data-seat]")];
  const address = new URL(page.dataset.liveUrl, location.href);
  address.searchParams.set("have", seats.map((seat) => `${seat.dataset.seat}:${seat.dataset.status}`).join(","));
  const parts = await fetched(address);
  if (parts?.querySelector("[data-changed]")) swap(parts);
}

// One after the other: of two answers the older must not come last.
let refreshing = Promise.resolve();
listen((ids) => {
  if (!ids.length || ids.includes(page.dataset.livePanel)) refreshing = refreshing.then(refresh);
}, page.querySelector("[data-status=running]") !== null);

// Clocks of running seats go on from what the server counted; this machine's own time of day is not asked.
let started = performance.now();
setInterval(() => {
  for (const clock of document.querySelectorAll("[data-clock]")) {
    clock.textContent = Math.floor(Number(clock.dataset.clock) + (performance.now() - started) / 1000);
  }
}, 1000);

document.body.dataset.script = "1";
