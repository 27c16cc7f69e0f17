// The theme hides a page until all of it has come and its scripts run; pages that are told as they go are seen from the start
// (adding.css), and so get their colours here.
"use strict";

(function () {
  let theme = "auto";
  try {
    theme = JSON.parse(localStorage.getItem("adminTheme")) || theme;
  } catch {
    // Nothing that was ever stored by the theme's own switch.
  }
  const dark = theme === "dark" || (theme === "auto" && window.matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.classList.toggle("dark", dark);
})();
