// The copy button beside a new key. Without scripts the key can be selected and copied by hand.
"use strict";

(function () {
  const key = document.getElementById("new-key");
  const button = document.getElementById("copy-key");
  const copied = document.getElementById("copied");
  if (!key || !button || !copied) return;

  async function copy() {
    key.select();
    try {
      await navigator.clipboard.writeText(key.value);
      return true;
    } catch {
      // Pages from http:// on another machine have no clipboard.
      return document.execCommand("copy");
    }
  }

  button.hidden = false;
  button.addEventListener("click", async () => {
    copied.textContent = (await copy()) ? "Copied." : "Press Ctrl+C: it is selected.";
  });
})();
