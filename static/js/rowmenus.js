// The menu of a row opens beside its button. Without script the browser shows it in the middle of the window.
const placeOfButton = (menu) => document.querySelector(`[popovertarget="${menu.id}"]`).getBoundingClientRect();
let openedAt = 0;
document.addEventListener("beforetoggle", (event) => {
  if (event.newState === "open" && event.target.matches?.(".row-menu")) openedAt = placeOfButton(event.target).top;
}, true);
document.addEventListener("toggle", (event) => {
  const menu = event.target;
  if (event.newState !== "open" || !menu.matches?.(".row-menu")) return;
  const button = placeOfButton(menu);
  const room = document.documentElement.clientHeight - button.bottom;
  const above = room < menu.offsetHeight + 8 && button.top > menu.offsetHeight + 8;
  menu.style.inset = "auto";
  menu.style.margin = "0";
  menu.style.left = `${Math.max(8, button.right - menu.offsetWidth)}px`;
  menu.style.top = `${above ? button.top - menu.offsetHeight - 4 : button.bottom + 4}px`;
  menu.querySelector(".menu-item").focus();
}, true);

// It does not travel with what is scrolled under it, and gives way to what it opens.
// The browser also tells late of what was scrolled before the menu opened: that the button came into view.
const openMenu = () => document.querySelector(".row-menu:popover-open");
const closed = () => openMenu()?.hidePopover();
document.addEventListener("scroll", () => {
  if (openMenu() && Math.abs(placeOfButton(openMenu()).top - openedAt) > 1) closed();
}, true);
document.addEventListener("click", (event) => { if (event.target.closest(".row-menu a")) closed(); });
document.addEventListener("keydown", (event) => {
  const menu = event.target.closest?.(".row-menu");
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!menu || !step) return;
  event.preventDefault();
  const items = [...menu.querySelectorAll(".menu-item")];
  items.at((items.indexOf(document.activeElement) + step) % items.length).focus();
});
