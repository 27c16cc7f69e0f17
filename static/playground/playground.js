// The playground, livelier: asking without leaving the form, the prompt's size as it is written, text copied with a click.
// Without scripts the form is a form, and its answer a page that is reloaded.
import { takeImages } from "./image.js";
import { follow } from "./running.js";
import { offerWhole, takeVerdicts } from "./seats.js";

const SIZE_AFTER_MS = 400;
const form = document.getElementById("play-form");
const panel = document.getElementById("play-panel");
const said = document.getElementById("play-said");
const button = form.querySelector("button[type=submit]");
const images = takeImages(form, measure);
let measuring = null;
let timer = 0;
let stop = follow(panel, say);

function say(text) {
  said.textContent = text;
}

async function ask(event) {
  event.preventDefault();
  if (button.getAttribute("aria-busy")) return;
  button.setAttribute("aria-busy", "true");
  const label = button.textContent;
  button.textContent = button.dataset.busy;
  try {
    const reply = await fetch(form.action, { method: "POST", body: new FormData(form) });
    show(new DOMParser().parseFromString(await reply.text(), "text/html"), reply);
  } catch {
    refuse("The bench does not answer. What you wrote is still here: try again in a moment.");
  } finally {
    button.textContent = label;
    button.removeAttribute("aria-busy");
  }
}

// The reply is a page: of it, the panel is taken over, or the reason why there is none.
function show(page, reply) {
  const opened = page.querySelector("#play-panel > *");
  const refusal = page.getElementById("play-refusal");
  if (!opened && !refusal) return refuse(`The bench answered with ${reply.status}. Reload the page: your login may have ended.`);
  if (!opened) {
    document.getElementById("play-refusal").replaceChildren(...refusal.childNodes);
    return document.querySelector(".play-refusal")?.focus();
  }
  stop();
  document.getElementById("play-refusal").replaceChildren();
  panel.replaceChildren(opened);
  images.forget();
  history.pushState(null, "", reply.url);
  stop = follow(panel, say);
  offerMore();
  const title = document.getElementById("play-panel-title");
  title.focus({ preventScroll: true });
  panel.scrollIntoView({ block: "start" });
}

function refuse(words) {
  const told = document.createElement("p");
  told.className = "play-refusal";
  told.tabIndex = -1;
  told.textContent = words;
  document.getElementById("play-refusal").replaceChildren(told);
  told.focus();
}

function measure() {
  clearTimeout(timer);
  timer = setTimeout(async () => {
    measuring?.abort();
    measuring = new AbortController();
    const asked = new FormData(form);
    asked.delete("image");
    if (images.chosen()) asked.set("images", "1");
    try {
      const reply = await fetch(form.dataset.size, { method: "POST", body: asked, signal: measuring.signal });
      if (reply.ok && !reply.redirected) document.getElementById("play-size").innerHTML = await reply.text();
    } catch {
      // Typed on, or the bench is away: asking will tell.
    }
  }, SIZE_AFTER_MS);
}

function offerMore() {
  offerWhole(panel);
  for (const copy of document.querySelectorAll("[data-copy]")) copy.hidden = false;
}

form.addEventListener("submit", ask);
takeVerdicts(panel, say);
form.addEventListener("input", measure);
document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && form.contains(event.target)) {
    event.preventDefault();
    form.requestSubmit(button);
  }
});
document.addEventListener("click", async (event) => {
  const copy = event.target.closest?.("[data-copy]");
  if (!copy) return;
  try {
    await navigator.clipboard.writeText(copy.parentElement.querySelector("code").textContent);
    say("Copied.");
    copy.dataset.copied = "1";
    setTimeout(() => delete copy.dataset.copied, 2000);
  } catch {
    say("The browser does not let this page copy: select the text instead.");
  }
});
window.addEventListener("popstate", () => location.reload());
offerMore();
if (document.getElementById("play-prompt").value) measure();
const chosen = form.querySelector(".play-collection:has(:checked)");
if (chosen) chosen.parentElement.scrollTop = chosen.offsetTop - chosen.parentElement.offsetTop;
