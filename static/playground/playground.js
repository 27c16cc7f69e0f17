// The playground's form, livelier: asked without losing the image where it is refused, the prompt's size as it is written, and
// text copied with a click. Without scripts the form is a form.
import { takeImages } from "./image.js";

const SIZE_AFTER_MS = 400;
const SAID_FOR_MS = 2000;
const form = document.getElementById("play-form");
const told = document.getElementById("play-refusal");
const button = form.querySelector("button[type=submit]");
const images = takeImages(form, measure);
const asked = { headers: { "X-Bench-Fragment": "1" }, method: "POST" };
let measuring = null;
let timer = 0;

async function ask(event) {
  event.preventDefault();
  if (button.getAttribute("aria-busy")) return;
  const label = button.textContent;
  button.setAttribute("aria-busy", "true");
  button.textContent = button.dataset.busy;
  try {
    const reply = await fetch(form.action, { ...asked, body: new FormData(form) });
    const panel = reply.headers.get("X-Bench-Panel");
    if (panel) return location.assign(panel);
    refuse(reply, await reply.text());
  } catch {
    refuse(null, "");
  }
  button.textContent = label;
  button.removeAttribute("aria-busy");
}

function refuse(reply, page) {
  const refusal = new DOMParser().parseFromString(page, "text/html").querySelector(".play-refusal") ?? document.createElement("p");
  if (!refusal.className) {
    refusal.className = "play-refusal";
    refusal.tabIndex = -1;
    const why = reply ? "The bench did not take it: your login may have ended." : "The bench does not answer.";
    refusal.textContent = `Not asked. ${why} What you wrote is still here; try again in a moment.`;
  }
  told.replaceChildren(refusal);
  refusal.focus();
}

function measure() {
  clearTimeout(timer);
  timer = setTimeout(async () => {
    measuring?.abort();
    measuring = new AbortController();
    const body = new FormData(form);
    body.delete("image");
    if (images.chosen()) body.set("images", "1");
    try {
      const reply = await fetch(form.dataset.size, { ...asked, body, signal: measuring.signal });
      if (reply.ok && !reply.redirected) document.getElementById("play-size").innerHTML = await reply.text();
    } catch {
      // Typed on, or the bench is away: asking will tell.
    }
  }, SIZE_AFTER_MS);
}

async function copy(snippet) {
  const said = document.getElementById("play-said");
  try {
    await navigator.clipboard.writeText(snippet.parentElement.querySelector("code").textContent);
    said.textContent = "Copied.";
    snippet.dataset.copied = "1";
    setTimeout(() => delete snippet.dataset.copied, SAID_FOR_MS);
  } catch {
    said.textContent = "The browser does not let this page copy: select the text instead.";
  }
}

form.addEventListener("submit", ask);
form.addEventListener("input", measure);
form.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  form.requestSubmit(button);
});
document.addEventListener("click", (event) => {
  const snippet = event.target.closest?.("[data-snippet]");
  if (snippet) copy(snippet);
});
// Gone back to, the page is as it was left.
window.addEventListener("pageshow", () => button.removeAttribute("aria-busy"));
for (const snippet of document.querySelectorAll("[data-snippet]")) snippet.hidden = false;
if (document.getElementById("play-prompt").value) measure();
const chosen = form.querySelector(".play-collection:has(:checked)");
if (chosen) chosen.parentElement.scrollTop = chosen.offsetTop - chosen.parentElement.offsetTop;
