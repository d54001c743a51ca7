// The menu of a row opens beside its button. Without script the browser shows it in the middle of the window.
const buttonOf = (menu) => document.querySelector(`[popovertarget="${menu.id}"]`);
const placeOfButton = (menu) => buttonOf(menu).getBoundingClientRect();
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
  // In a low window with room on neither side it covers the button, and scrolls in itself where it is higher than the window.
  const below = Math.max(8, Math.min(button.bottom + 4, document.documentElement.clientHeight - menu.offsetHeight - 8));
  menu.style.top = `${above ? button.top - menu.offsetHeight - 4 : below}px`;
  if (!menu.contains(document.activeElement)) menu.querySelector(".menu-item").focus();
}, true);

// It does not travel with what is scrolled under it, and gives way to what it opens.
// The browser also tells late of what was scrolled before the menu opened: that the button came into view.
const openMenu = () => document.querySelector(".row-menu:popover-open");
const closed = () => openMenu()?.hidePopover();
document.addEventListener("scroll", () => {
  if (openMenu() && Math.abs(placeOfButton(openMenu()).top - openedAt) > 1) closed();
}, true);
document.addEventListener("click", (event) => { if (event.target.closest(".row-menu a")) closed(); });
// Who types fast presses an arrow before the menu took the focus: it counts from the first item, as it would a moment later.
document.addEventListener("keydown", (event) => {
  const menu = openMenu();
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!menu || !step || !(menu.contains(event.target) || event.target === buttonOf(menu))) return;
  event.preventDefault();
  const items = [...menu.querySelectorAll(".menu-item")];
  items.at((Math.max(0, items.indexOf(document.activeElement)) + step) % items.length).focus();
});
