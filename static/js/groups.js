// One box for all boxes of a group: ticked, not ticked, or partly; and how many of them are ticked. Without script the box is always
// empty, and the server ticks the group when it is sent.
function show(group) {
  const boxes = [...group.querySelectorAll("[data-group-one]")];
  const whole = group.querySelector("[data-group-whole]");
  group.querySelector("[data-group-count]").textContent = boxes.filter((box) => box.checked).length;
  if (!whole) return;
  const open = boxes.filter((box) => !box.disabled);
  const ticked = open.filter((box) => box.checked).length;
  whole.checked = ticked === open.length;
  whole.indeterminate = ticked > 0 && ticked < open.length;
}

const showAll = () => { for (const group of document.querySelectorAll("[data-group]")) show(group); };

document.addEventListener("change", (event) => {
  const group = event.target.closest("[data-group]");
  if (!group) return;
  if (event.target.matches("[data-group-whole]")) {
    for (const box of group.querySelectorAll("[data-group-one]:not(:disabled)")) box.checked = event.target.checked;
  }
  show(group);
});
document.body.addEventListener("htmx:load", showAll);
addEventListener("pageshow", showAll);
showAll();
