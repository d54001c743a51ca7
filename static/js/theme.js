// Runs before the first paint: sets the theme on <html>, and later the control for it. Kept in localStorage alone.
(function () {
  "use strict";
  const root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const paper = matchMedia("print");
  root.classList.add("js");

  function chosen() {
    try { return localStorage.getItem("muster-theme") || "auto"; } catch { return "auto"; }
  }
  function apply() {
    const choice = chosen();
    root.dataset.bsTheme = paper.matches ? "light" : choice === "auto" ? (dark.matches ? "dark" : "light") : choice;
    for (const button of document.querySelectorAll("[data-look]")) {
      button.setAttribute("aria-pressed", String(button.dataset.look === choice));
    }
    document.dispatchEvent(new CustomEvent("muster:theme"));
  }
  apply();
  for (const media of [dark, paper]) media.addEventListener("change", apply);
  addEventListener("storage", apply);
  document.addEventListener("DOMContentLoaded", () => {
    for (const menu of document.querySelectorAll("[data-theme-menu]")) menu.hidden = false;
    apply();
  });
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-look]");
    if (!button) return;
    try { localStorage.setItem("muster-theme", button.dataset.look); } catch { /* private mode: this page only */ }
    apply();
    button.closest("details").open = false;
  });
})();
