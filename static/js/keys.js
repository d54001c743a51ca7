// Single keys for lists: / j k x b ?. They are dead in a field, behind an open box and with another key held down; who switched them
// off in Account has no data-keys on the body.
const FIELD = "input:not([type=checkbox], [type=radio]), select, textarea, [contenteditable], dialog";

function rows() {
  return [...document.querySelectorAll(".list tbody tr")];
}

function current() {
  return document.activeElement?.closest?.(".list tbody tr");
}

function step(by) {
  const all = rows();
  const at = all.indexOf(current());
  const next = at < 0 ? all[0] : all[Math.min(Math.max(at + by, 0), all.length - 1)];
  if (!next) return;
  next.tabIndex = -1;
  next.focus({ preventScroll: true });
  next.scrollIntoView({ block: "nearest" });
}

function search() {
  const field = document.querySelector("form[data-filters] input[type=search]");
  if (field?.checkVisibility()) field.select();
  else document.querySelector("[data-palette]")?.click();
}

// Behind fifty rows the bar of acts is two hundred steps of Tab away.
function acts() {
  document.querySelector("form[data-bulk]:is(.is-live, .is-whole) button:not([hidden], [disabled])")?.focus();
}

const keys = {
  "/": search,
  "j": () => step(1),
  "k": () => step(-1),
  "x": () => current()?.querySelector("[data-bulk-item]")?.click(),
  "b": acts,
  "?": () => document.getElementById("keys-help")?.click(),
};

function isFree(event) {
  const held = event.ctrlKey || event.metaKey || event.altKey || event.isComposing;
  return !held && !event.defaultPrevented && !event.target.closest?.(FIELD) && !document.querySelector("dialog[open]");
}

if (document.body.hasAttribute("data-keys")) {
  document.addEventListener("keydown", (event) => {
    if (!Object.hasOwn(keys, event.key) || !isFree(event)) return;
    event.preventDefault();
    keys[event.key]();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.target !== current()) return;
    // The drawer takes the focus at once, and the same press would reach its button.
    event.preventDefault();
    event.target.querySelector("td a[href], th a[href]")?.click();
  });
}
