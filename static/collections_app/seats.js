// The seat arithmetic of a collection's form, kept true while members are added and removed.
// The sum is that of Limits.explorers_beside; the server works it out again when the form is saved.
"use strict";

(function () {
  const count = (number, noun) => `${number || "no"} ${noun}${number === 1 ? "" : "s"}`;

  function members() {
    const rows = document.querySelectorAll("[id^=memberships-].form-group, #memberships-data tbody.form-group");
    return Array.from(new Set(rows)).filter((row) => {
      const select = row.querySelector("select[name^=memberships-][name$=-language_model]");
      const removed = row.querySelector("input[name$=-DELETE]");
      return select && !select.name.includes("__prefix__") && select.value && !(removed && removed.checked);
    }).length;
  }

  function show(seats) {
    const sitting = members();
    const explorers = Math.max(0, Math.min(Number(seats.dataset.maxExplorers), Number(seats.dataset.maxCalls) - sitting));
    seats.querySelector("[data-bench-sum]").textContent =
      `${count(sitting, "member")} + ${count(explorers, "explorer")} = ${count(sitting + explorers, "seat")}`;
    seats.querySelector("[data-bench-range]").classList.toggle("bench-advice", sitting < 2 || sitting > 4);
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
