// What is said beside the seats, asked for again whenever the log's own script has put something new in its place.
import { fetched } from "../evidence/live.js";

const beside = document.querySelector("[data-beside]");
let looking = false;

async function look() {
  if (looking) return;
  looking = true;
  const told = await fetched(beside.dataset.beside);
  if (told) beside.replaceChildren(...told.body.childNodes);
  looking = false;
}

// The summary is replaced with every change, the last one too.
const page = document.querySelector("[data-live-panel]");
new MutationObserver((changes) => {
  if (changes.some((change) => change.target === page)) look();
}).observe(page, { childList: true });
