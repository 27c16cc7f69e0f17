// Lets the theme's pages run under the site's Content-Security-Policy, which forbids making code out of text.
// Alpine's build for that (static/unfold/js/alpine) reads plain expressions and knows no globals: what the theme's pages
// write beyond that is put in its words here, before Alpine reads them.
"use strict";

(function () {
  htmx.config.allowEval = false;
  htmx.config.includeIndicatorStyles = false;

  // The statements and globals in the theme's attributes, and what says the same.
  const REWRITTEN = [
    [/^if \((.+)\) (\w+\(.*\))$/s, "($1) && $2"],
    [/;\s*localStorage\.setItem\(.*$/s, ""],
    [/^.*window\.location\.pathname.*$/s, "formAction()"],
  ];

  function rewrite(element) {
    for (const { name, value } of Array.from(element.attributes)) {
      if (!/^x-(on|bind)/.test(name)) continue;
      const said = REWRITTEN.reduce((text, [pattern, words]) => text.replace(pattern, words), value);
      if (said !== value) element.setAttribute(name, said);
    }
  }

  // What the theme's <body> says of itself in x-data and x-init.
  function page() {
    const first = /\|\|\s*'([^']*)'/.exec(document.body.dataset.benchInit);
    return {
      activeTab: first ? getCurrentTab() || first[1] : "",
      sidebarMobileOpen: false,
      sidebarDesktopOpen: localStorage.getItem("sidebarDesktopOpen") !== "0",
      init() {
        this.$watch("sidebarDesktopOpen", (open) => localStorage.setItem("sidebarDesktopOpen", open ? "1" : "0"));
      },
      formAction() {
        const tab = this.activeTab && this.activeTab !== "general" ? `#${this.activeTab}` : "";
        return window.location.pathname + window.location.search + tab;
      },
      moveRecords: (event) => moveRecords(event),
      sortRecords: (event) => sortRecords(event),
    };
  }

  // The theme's search, which fails on Enter where nothing is found or chosen.
  function search() {
    const command = searchCommand();
    const { selectItem } = command;
    command.selectItem = function (...how) {
      if (this.items?.[this.currentIndex - 1]) selectItem.apply(this, how);
    };
    return command;
  }

  // The theme's own switch would leave a colour in place that was there before it (colours.js).
  function colours(...words) {
    const page = theme(...words);
    delete page.themeBindings["x-bind:class"];
    page.themeBindings["x-effect"] = function () {
      benchColours(this.adminTheme);
    };
    return page;
  }

  document.addEventListener("alpine:init", () => {
    const { body } = document;
    body.dataset.benchInit = body.getAttribute("x-init") || "";
    body.removeAttribute("x-init");
    body.setAttribute("x-data", "page");
    document.querySelectorAll("*").forEach(rewrite);
    Alpine.data("page", page);
    Alpine.data("theme", colours);
    Alpine.data("searchForm", () => searchForm());
    Alpine.data("searchDropdown", () => searchDropdown());
    Alpine.data("searchCommand", search);
  });

  // Nothing is seen before Alpine has begun, and a browser gives what it does not show no focus.
  document.addEventListener("alpine:initialized", () => {
    requestAnimationFrame(() => document.querySelector("[autofocus]")?.focus());
  });
})();
