// The seats of a collection's form, kept true while members are added, moved and removed: the sum at once, and what these members
// make together and who would explore beside them as the server says (benchsite/dashboard/preview), a moment later.
// The sum is that of Limits.explorers_beside; the server works it out again when the form is saved.
"use strict";

(function () {
  const count = (number, noun) => `${number || "no"} ${noun}${number === 1 ? "" : "s"}`;

  const PAUSE_MS = 250;
  let waiting = 0;
  let asked = "";

  function members() {
    const rows = document.querySelectorAll("[id^=memberships-].form-group, #memberships-data tbody.form-group");
    const chosen = Array.from(new Set(rows)).map((row) => {
      const select = row.querySelector("select[name^=memberships-][name$=-language_model]");
      const removed = row.querySelector("input[name$=-DELETE]");
      return select && !select.name.includes("__prefix__") && !(removed && removed.checked) ? select.value : "";
    });
    return chosen.filter(Boolean);
  }

  async function preview(box, chosen) {
    const query = new URLSearchParams(chosen.map((pk) => ["member", pk]));
    query.set("shape", document.querySelector("select[name=shape]")?.value || "");
    if (String(query) === asked) return;
    asked = String(query);
    box.setAttribute("aria-busy", "true");
    try {
      const reply = await fetch(`${box.dataset.benchPreview}?${query}`);
      const page = await reply.text();
      // A later question's answer is the one that counts; a log-in page is none.
      if (reply.ok && !reply.redirected && asked === String(query)) box.innerHTML = page;
    } catch {
      // The server is gone, or the page is being left: what it last said stays, and the next change asks again.
      asked = "";
    }
    if (asked === String(query) || !asked) box.removeAttribute("aria-busy");
  }

  function show(seats) {
    const chosen = members();
    const sitting = chosen.length;
    const explorers = Math.max(0, Math.min(Number(seats.dataset.maxExplorers), Number(seats.dataset.maxCalls) - sitting));
    seats.querySelector("[data-bench-sum]").textContent =
      `${count(sitting, "member")} + ${count(explorers, "explorer")} = ${count(sitting + explorers, "seat")}`;
    seats.querySelector("[data-bench-range]").classList.toggle("bench-advice", sitting < 2 || sitting > 4);
    const box = seats.querySelector("[data-bench-preview]");
    clearTimeout(waiting);
    if (box && box.dataset.benchPreview) waiting = setTimeout(() => preview(box, chosen), PAUSE_MS);
  }

  document.addEventListener("DOMContentLoaded", () => {
    const seats = document.querySelector("[data-bench-seats]");
    if (!seats || !document.querySelector("select[name^=memberships-]")) return;
    const update = () => show(seats);
    document.addEventListener("change", update);
    document.addEventListener("formset:added", update);
    document.addEventListener("formset:removed", update);
    // Select2, which draws the choice of a model, tells only jQuery of it.
    if (window.django && window.django.jQuery) window.django.jQuery(document).on("change", "select", update);
    update();
  });
})();
