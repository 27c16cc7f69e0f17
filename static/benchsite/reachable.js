// Gives names and keys to what the theme's scripts and templates only let be seen and clicked: boxes to choose from, icons,
// and what is pressed without being a button. Without scripts none of that is there.
"use strict";

(function () {
  const PRESSED = "a[x-on\\:click]:not([href]), div[x-on\\:click][x-ref^=relatedWidgetWrapper], .delete-template";
  const ICONS = { more_horiz: "More", more_vert: "More", arrow_back: "Back", add: "Add" };

  function press(element) {
    if (element.hasAttribute("role")) return;
    element.setAttribute("role", "button");
    element.tabIndex = 0;
    const ref = element.getAttribute("x-ref");
    if (ref) {
      element.setAttribute("aria-label", "Add or change");
      element.setAttribute("aria-haspopup", "true");
      element.addEventListener("click", () => setTimeout(() => related(ref)?.focus(), 50));
    } else if (element.matches(".delete-template")) {
      element.setAttribute("aria-label", "Remove");
    }
  }

  // The menu of such a button is at the end of the page, where Tab would not find it.
  const related = (ref) => document.querySelector(`#${CSS.escape(ref.replace("relatedWidgetWrapper", "related-widget-wrapper-"))} a[href]`);

  function nameOf(select) {
    const label = select.labels?.[0] || document.querySelector(`label[for="${CSS.escape(select.id)}"]`);
    return (label?.textContent || select.closest("td")?.dataset.label || select.name).replace("*", "").trim();
  }

  // Select2 draws a box for a select and names it by what is chosen alone, which is nothing where nothing is.
  function nameBox(box) {
    const select = box.closest(".select2-container").previousElementSibling;
    if (select?.tagName !== "SELECT") return;
    const chosen = box.querySelector(".select2-selection__rendered");
    const name = nameOf(select);
    box.removeAttribute("aria-labelledby");
    box.setAttribute("aria-label", chosen?.title ? `${name}: ${chosen.title}` : name);
    chosen?.removeAttribute("role");
    chosen?.removeAttribute("aria-readonly");
  }

  // An icon is drawn of a word, which is read out as part of what it stands beside; where it stands alone, it is all there is.
  function hideIcon(icon) {
    const around = icon.closest("a, button, [role=button]");
    const word = icon.textContent.trim();
    if (around && around.textContent.trim() === word && !around.title && !around.hasAttribute("aria-label")) {
      around.setAttribute("aria-label", ICONS[word] || word.replaceAll("_", " "));
    }
    icon.setAttribute("aria-hidden", "true");
  }

  function reach() {
    document.querySelectorAll(".material-symbols-outlined:not([aria-hidden])").forEach(hideIcon);
    document.querySelectorAll(PRESSED).forEach(press);
    document.querySelectorAll(".select2-selection").forEach(nameBox);
  }

  document.addEventListener("keydown", (event) => {
    const element = event.target;
    if (!["Enter", " "].includes(event.key) || !element.matches?.(PRESSED)) return;
    event.preventDefault();
    element.click();
  });
  window.addEventListener("load", () => {
    reach();
    window.django?.jQuery?.(document).on("change", "select", () => setTimeout(reach));
  });
  document.addEventListener("formset:added", () => setTimeout(reach));
})();
