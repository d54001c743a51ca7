// <details class="menu"> closes on Escape, on a click elsewhere, when another opens and when its form is sent. Without script it is a plain disclosure.
// A long menu shows where one is.
document.querySelector(".shell-menu [aria-current]")?.scrollIntoView({ block: "nearest" });

const opened = () => document.querySelectorAll("details.menu[open]");

document.addEventListener("click", (event) => {
  for (const menu of opened()) if (!menu.contains(event.target)) menu.open = false;
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const menu of opened()) {
    menu.open = false;
    if (menu.contains(document.activeElement)) menu.querySelector("summary").focus();
    event.preventDefault();
  }
});
// What was chosen may open a dialog, which Escape then closes, and which gives the focus back to the menu.
document.addEventListener("submit", (event) => {
  leave(event.submitter?.closest("details.menu"));
});
document.addEventListener("click", (event) => {
  leave(event.target.closest("a[data-dialog], a[data-drawer]")?.closest("details.menu"));
});
function leave(menu) {
  if (!menu) return;
  menu.querySelector("summary").focus();
  menu.open = false;
}
document.addEventListener("toggle", (event) => {
  const menu = event.target;
  if (!menu.matches?.("details.menu") || !menu.open) return;
  for (const other of opened()) if (other !== menu && !other.contains(menu)) other.open = false;
  const panel = menu.querySelector(".menu-panel");
  panel.classList.remove("menu-flip");
  const box = panel.getBoundingClientRect();
  if (box.right > document.documentElement.clientWidth || box.left < 0) panel.classList.add("menu-flip");
  if (menu.matches(".edit-here")) panel.querySelector("input:not([type=hidden])").focus();
}, true);
