// A button that was pressed says so, and is not pressed twice, while the server asks others. Without scripts the browser shows
// that it waits.
"use strict";

document.addEventListener("submit", (event) => {
  const form = event.target;
  const button = event.submitter;
  if (!form.dataset.addingBusy || !button) return;
  if (form.dataset.addingSent) return event.preventDefault();
  form.dataset.addingSent = "1";
  button.dataset.addingSays = button.textContent;
  button.textContent = form.dataset.addingBusy;
  button.setAttribute("aria-busy", "true");
});

// Gone back to, a page is as it was left.
window.addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[data-adding-sent]")) delete form.dataset.addingSent;
  for (const button of document.querySelectorAll("button[data-adding-says]")) {
    button.textContent = button.dataset.addingSays;
    button.removeAttribute("aria-busy");
  }
});
