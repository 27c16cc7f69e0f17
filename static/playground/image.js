// An image for the prompt: chosen, dropped or pasted, its size told, shown small until it has been sent, then forgotten.
// It is in the form's own file field, so that the form sends it as any form does.
const PREVIEWED_BYTES = 5_000_000;

export function takeImages(form, changed) {
  const input = form.querySelector("#play-image");
  const drop = form.querySelector("#play-drop");
  const shown = form.querySelector("#play-image-shown");
  const [picture, words, remove] = [shown.querySelector("img"), shown.querySelector("span"), shown.querySelector("button")];
  const kinds = input.accept.split(",");
  // The theme looks for a text field of its own beside each file field, unless it has done so before.
  input.hasChangeListener = true;

  function take(file) {
    const holder = new DataTransfer();
    holder.items.add(file);
    input.files = holder.files;
    show();
  }

  function show() {
    const file = input.files[0];
    shown.hidden = !file;
    picture.hidden = true;
    picture.removeAttribute("src");
    input.setCustomValidity("");
    if (file) {
      const wrong = whatIsWrong(file);
      input.setCustomValidity(wrong);
      shown.classList.toggle("play-bad", Boolean(wrong));
      words.textContent = `${file.name || "pasted"}, ${size(file.size)}${wrong ? `: ${wrong}` : ""}`;
      if (!wrong && file.size < PREVIEWED_BYTES) preview(file);
    }
    changed();
  }

  function whatIsWrong(file) {
    if (!kinds.includes(file.type)) return "not a png, jpeg, webp or gif";
    return file.size > Number(input.dataset.most) ? `larger than ${size(Number(input.dataset.most))}` : "";
  }

  function preview(file) {
    const reader = new FileReader();
    reader.addEventListener("load", () => {
      if (input.files[0] !== file) return;
      picture.src = reader.result;
      picture.hidden = false;
    });
    reader.readAsDataURL(file);
  }

  function forget() {
    input.value = "";
    show();
  }

  input.addEventListener("change", show);
  remove.addEventListener("click", () => {
    forget();
    input.focus();
  });
  form.addEventListener("paste", (event) => {
    const file = [...event.clipboardData.files].find((one) => one.type.startsWith("image/"));
    if (!file) return;
    event.preventDefault();
    take(file);
  });
  // Anywhere on the page: a file that is dropped beside the form would otherwise replace the page.
  document.addEventListener("dragover", (event) => {
    if (![...event.dataTransfer.types].includes("Files")) return;
    event.preventDefault();
    drop.classList.add("play-dropping");
  });
  document.addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) drop.classList.remove("play-dropping");
  });
  document.addEventListener("drop", (event) => {
    drop.classList.remove("play-dropping");
    if (!event.dataTransfer.files.length) return;
    event.preventDefault();
    take(event.dataTransfer.files[0]);
  });
  return { chosen: () => input.files.length > 0 };
}

function size(bytes) {
  if (bytes < 1024) return `${bytes} bytes`;
  return bytes < 1024 * 1024 ? `${Math.round(bytes / 1024)} KB` : `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}
