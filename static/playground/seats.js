// The seats of a panel, taken over from a page that the server has just made: those that changed, and no other. One that did not
// change keeps its place, its scroll and what is being written in it.

export function takeOver(panel, fresh) {
  const seats = panel.querySelector("#play-seats");
  const changed = [];
  for (const seat of fresh.querySelectorAll(".play-seat")) {
    const old = document.getElementById(seat.id);
    if (old?.dataset.mark === seat.dataset.mark) continue;
    if (old) old.replaceWith(seat);
    else seats.querySelector(".play-answers").append(seat);
    changed.push(seat);
  }
  offerWhole(seats);
  seats.dataset.running = fresh.dataset.running;
  seats.dataset.now = fresh.dataset.now;
  seats.querySelector(".play-progress").replaceChildren(...fresh.querySelector(".play-progress").childNodes);
  return changed;
}

// An answer longer than its place is read in it, or as a whole.
export function offerWhole(root) {
  for (const answer of root.querySelectorAll(".play-answer")) {
    const button = answer.closest(".play-seat").querySelector(".play-expand");
    if (button.hidden) button.hidden = answer.scrollHeight <= answer.clientHeight + 1;
  }
}

export function titleOf(seat) {
  return seat.querySelector(".play-seat-title").textContent.replace(/\s+/g, " ").trim();
}

// A verdict is given without leaving the page: the seat says that it was judged, and keeps the keyboard.
export function takeVerdicts(root, say) {
  root.addEventListener("click", (event) => {
    const button = event.target.closest(".play-expand");
    if (!button) return;
    const whole = button.closest(".play-seat").classList.toggle("play-whole");
    button.setAttribute("aria-expanded", String(whole));
  });
  root.addEventListener("submit", async (event) => {
    const form = event.target;
    if (!form.matches(".play-verdict") || !event.submitter) return;
    event.preventDefault();
    const panel = form.closest("[data-panel]");
    const { id } = form.closest(".play-seat");
    const told = panel.querySelector("#play-unjudged");
    try {
      const reply = await fetch(form.action, { method: "POST", body: new FormData(form, event.submitter) });
      const page = new DOMParser().parseFromString(await reply.text(), "text/html");
      told.replaceChildren(...page.getElementById("play-unjudged").childNodes);
      takeOver(panel, page.getElementById("play-seats"));
      if (told.firstChild) return told.firstChild.focus();
      say(`Judged: ${event.submitter.textContent}.`);
      document.querySelector(`#${id} .play-seat-title`).focus({ preventScroll: true });
    } catch {
      told.textContent = "Not judged: the bench does not answer, or your login has ended. Try again.";
    }
  });
}
