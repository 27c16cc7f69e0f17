// Copies an answer as it was written, all of it: the page holds it only as it is shown.
const SAID_FOR_MS = 2000;

document.addEventListener("click", async (event) => {
  const button = event.target.closest?.("[data-copy]");
  if (!button) return;
  const words = button.dataset.words ?? button.textContent;
  button.dataset.words = words;
  try {
    const reply = await fetch(button.dataset.copy);
    if (!reply.ok) throw new Error(`HTTP ${reply.status}`);
    await navigator.clipboard.writeText(await reply.text());
    button.textContent = "Copied";
  } catch {
    button.textContent = "Not copied";
  }
  setTimeout(() => (button.textContent = words), SAID_FOR_MS);
});
