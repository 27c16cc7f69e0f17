// Light or dark: before anything of a page is painted, when another is chosen here or in another tab, and when the system's
// changes. The theme's own switch leaves what was chosen earlier in place.
"use strict";

function benchColours(chosen) {
  const dark = chosen === "dark" || (chosen !== "light" && window.matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.classList.toggle("dark", dark);
  document.documentElement.classList.toggle("light", !dark);
}

(function () {
  function stored() {
    try {
      return JSON.parse(localStorage.getItem("adminTheme")) || "auto";
    } catch {
      // Nothing that was ever stored by the theme's switch, or a browser that stores nothing.
      return "auto";
    }
  }

  const again = () => benchColours(stored());
  again();
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
  window.addEventListener("storage", again);
})();
