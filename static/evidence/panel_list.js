// The list of panels while panels run: rows change in place, and new ones wait for a click, so that nothing moves.
import { fetched, listen } from "./live.js";

const page = document.querySelector("[data-live-list]");
const button = page.querySelector("[data-show-new]");
const waiting = new Map();
// As many as the server gives at once; those missed come with the next visit.
const MOST = 50;

function rowOf(id) {
  return page.querySelector(`tbody tr[data-panel="${CSS.escape(id)}"]`);
}

async function refresh(ids) {
  const address = new URL(page.dataset.liveList, location.href);
  for (const [name, value] of new URL(location.href).searchParams) address.searchParams.set(name, value);
  address.searchParams.set("panels", ids.slice(0, MOST).join(","));
  const found = await fetched(address);
  // The oldest of the new ones first, as they are put on top of each other.
  for (const row of [...(found?.querySelectorAll("tr[data-panel]") ?? [])].reverse()) {
    const id = row.dataset.panel;
    const shown = rowOf(id);
    if (shown) replace(shown, row);
    else if (page.dataset.newest) waiting.set(id, row);
  }
  offer();
}

// The link keeps its focus, and a row that is pointed at is not taken from under the pointer.
function replace(shown, row) {
  const cells = row.children;
  [...shown.children].forEach((cell, at) => {
    if (at && cell.innerHTML !== cells[at].innerHTML) cell.innerHTML = cells[at].innerHTML;
  });
}

function offer() {
  button.hidden = !waiting.size;
  button.textContent = waiting.size === 1 ? "1 new panel" : `${waiting.size} new panels`;
}

button.addEventListener("click", () => {
  const body = page.querySelector("tbody");
  // Where the list was empty there is no table yet.
  if (!body) return location.reload();
  for (const row of waiting.values()) body.prepend(row);
  waiting.clear();
  offer();
  body.querySelector("a").focus();
});

let refreshing = Promise.resolve();
listen((ids) => {
  const shown = [...page.querySelectorAll("tbody tr[data-panel]")].map((row) => row.dataset.panel);
  const wanted = ids.length ? ids : shown;
  if (wanted.length) refreshing = refreshing.then(() => refresh(wanted));
}, page.querySelector(".seat-chip--running") !== null);
