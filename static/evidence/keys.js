// One key each: the next answer, the one before, useful, not useful, help. Never while somebody types, and not where turned off.
const OFF = "bench-keys-off";
const dialog = document.querySelector("[data-keys-dialog]");
const off = dialog.querySelector("[data-keys-off]");

const seats = () => [...document.querySelectorAll("[data-seat]")];

// The answer that has the focus, or else the first that is to be seen.
function current() {
  const focused = document.activeElement?.closest("[data-seat]");
  return focused ?? seats().find((seat) => seat.getBoundingClientRect().bottom > 80);
}

function step(by) {
  const all = seats();
  const focused = document.activeElement?.closest("[data-seat]");
  const at = focused ? all.indexOf(focused) + by : Math.max(0, all.indexOf(current()));
  const next = all[Math.min(all.length - 1, Math.max(0, at))];
  next?.focus({ preventScroll: true });
  next?.scrollIntoView({ block: "start" });
}

function judge(how) {
  const seat = document.activeElement?.closest("[data-seat]");
  // An answer that was not gone to is not judged by a key that was hit by mistake; nor by a form that is folded away.
  if (!seat) return step(0);
  const button = seat.querySelector(`[data-judge="${how}"]`);
  if (button?.checkVisibility()) button.click();
}

function help() {
  if (!dialog.open) dialog.showModal();
}

const KEYS = {
  n: () => step(1),
  j: () => step(1),
  p: () => step(-1),
  k: () => step(-1),
  u: () => judge("yes"),
  x: () => judge("no"),
  "?": help,
};

function typing(element) {
  return element?.closest("input, textarea, select, [contenteditable], [role=combobox], dialog");
}

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (typing(event.target) || localStorage.getItem(OFF) === "1") return;
  const act = Object.hasOwn(KEYS, event.key) && KEYS[event.key];
  if (!act) return;
  event.preventDefault();
  if (!event.repeat || "njpk".includes(event.key)) act();
});

document.querySelector("[data-keys-help]").addEventListener("click", help);
off.checked = localStorage.getItem(OFF) === "1";
off.addEventListener("change", () => localStorage.setItem(OFF, off.checked ? "1" : "0"));
