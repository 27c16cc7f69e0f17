// Verdicts without leaving the page: a form is sent, and the seat comes back as it then is. Without scripts it is a plain form.
import { say, swap } from "./panel_page.js";

const NOT_SAVED = "Not saved: the server did not take it. Reload the page, or try again.";

document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (!form.matches("[data-verdict]")) return;
  event.preventDefault();
  if (form.dataset.sent) return;
  form.dataset.sent = "1";
  const data = new FormData(form, event.submitter);
  event.submitter?.setAttribute("aria-busy", "true");
  try {
    const reply = await fetch(form.action, { method: "POST", body: data, headers: { "X-Bench-Fragment": "1" } });
    const parts = new DOMParser().parseFromString(await reply.text(), "text/html");
    const changed = parts.querySelector("[data-changed]");
    if (!changed || reply.redirected) throw new Error(`HTTP ${reply.status}`);
    swap(parts, changed.dataset.said);
  } catch {
    delete form.dataset.sent;
    event.submitter?.removeAttribute("aria-busy");
    say(NOT_SAVED);
    fault(form);
  }
});

function fault(form) {
  const shown = form.querySelector("[data-fault]") ?? form.insertAdjacentElement("afterbegin", document.createElement("p"));
  shown.dataset.fault = "1";
  shown.className = "panel-error";
  shown.textContent = NOT_SAVED;
}
