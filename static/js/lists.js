// Lists: filters send themselves, empty ones stay out of the address, and the bulk bar counts what is selected.
const timers = new WeakMap();

function send(form, wait) {
  clearTimeout(timers.get(form));
  timers.set(form, setTimeout(() => form.requestSubmit(), wait));
}

document.addEventListener("input", (event) => {
  if (event.target.matches("form[data-filters] [data-live]")) send(event.target.form, 350);
});
// Dates and a period say the same thing: what was given last holds.
document.addEventListener("change", (event) => {
  const range = event.target.closest("[data-range]");
  if (!range) return;
  const other = event.target.type === "date" ? "select" : "input[type=date]";
  for (const field of range.querySelectorAll(other)) field.value = "";
  const chosen = range.querySelector("[data-chosen]");
  const hasDates = [...range.querySelectorAll("input[type=date]")].some((field) => field.value);
  if (chosen && hasDates) chosen.selected = true;
});
document.addEventListener("change", (event) => {
  const form = event.target.form;
  if (form?.matches("form[data-filters]") && !event.target.matches("[data-live]")) send(form, 0);
  if (event.target.matches("select[data-submit]")) form.requestSubmit();
});

// Read aloud is what an act of the person changed.
function aloud(words) {
  document.getElementById("aloud").textContent = words.replace(/\s+/g, " ").trim();
}
document.body.addEventListener("htmx:afterSettle", (event) => {
  const { target, requestConfig } = event.detail;
  // After an act its message says what became of the rows.
  if (!target?.matches?.(".list, .list-results") || ["muster:changed", "sse:begun"].includes(requestConfig?.triggeringEvent?.type)) return;
  aloud(document.querySelector(`#${CSS.escape(target.id)} .pager-count`)?.textContent ?? "");
});

// A choice that is asked about first shows what still holds, until somebody agrees.
document.body.addEventListener("htmx:afterRequest", (event) => {
  if (event.detail.elt.matches?.("form[data-reset]")) event.detail.elt.reset();
});
document.body.addEventListener("htmx:configRequest", (event) => {
  if (!event.detail.elt.matches("form[data-filters]")) return;
  const given = event.detail.formData;
  for (const name of new Set(given.keys())) {
    const kept = given.getAll(name).filter((value) => value !== "");
    given.delete(name);
    for (const value of kept) given.append(name, value);
  }
});

// On a phone the filters fold behind their button, which says how many are in force.
const phone = matchMedia("(max-width: 47.99rem)");
function fold() {
  for (const one of document.querySelectorAll("[data-fold]")) one.open = !phone.matches;
}
phone.addEventListener("change", fold);
fold();
document.body.addEventListener("htmx:afterSettle", () => {
  for (const said of document.querySelectorAll("[data-fold-count]")) {
    const number = said.closest(".list").querySelectorAll(".chips .chip").length;
    said.textContent = number ? ` (${number})` : "";
  }
});

// getAttribute, since the rows' boxes are called "id" and so hide the form's own property.
const items = (form) => [...document.querySelectorAll(`[data-bulk-item][form="${form.getAttribute("id")}"]`)];

function count(form) {
  const all = items(form);
  const chosen = all.filter((box) => box.checked).length;
  const every = form.querySelector("[data-bulk-all]").checked;
  const page = form.closest(".list").querySelector("[data-bulk-page]");
  const rest = form.querySelector(".bulk-all");
  const total = Number(rest.dataset.total);
  // Where a filter says which rows are meant, it need not be said a second time by selecting them.
  const whole = form.querySelector("[data-bulk-whole]");
  const isWhole = whole !== null && chosen === 0 && !every;
  if (whole) whole.disabled = !isWhole;
  // With every row of the filter selected, "all in this filter" would say the same once more.
  rest.hidden = isWhole || (!every && chosen === total);
  form.classList.toggle("is-live", chosen > 0 || every);
  form.classList.toggle("is-whole", isWhole);
  form.querySelector("[data-bulk-count]").textContent = isWhole ? `${total === 1 ? "The only one" : `All ${rest.dataset.amount}`} in this filter:`
    : every ? "Selected:" : `${chosen} selected${rest.hidden ? "" : ", or"}`;
  for (const button of form.querySelectorAll("button")) {
    button.disabled = chosen === 0 && !every && !isWhole;
    button.hidden = isWhole && "bulkDanger" in button.dataset;
  }
  for (const box of all) box.closest("tr").classList.toggle("is-selected", box.checked || every);
  if (!page) return;
  page.hidden = false;
  page.checked = chosen > 0 && chosen === all.length;
  page.indeterminate = chosen > 0 && chosen < all.length;
}

function tell(form) {
  aloud(form.querySelector("[data-bulk-count]").textContent);
}

let latest = null;
document.addEventListener("click", (event) => {
  const box = event.target;
  if (!box.matches?.("[data-bulk-item]")) return;
  const all = items(box.form);
  if (event.shiftKey && latest && all.includes(latest)) {
    const [from, to] = [all.indexOf(latest), all.indexOf(box)].sort((a, b) => a - b);
    for (const between of all.slice(from, to + 1)) between.checked = box.checked;
  }
  latest = box;
  count(box.form);
  tell(box.form);
});
document.addEventListener("change", (event) => {
  const page = event.target.matches("[data-bulk-page]") && event.target.closest(".list").querySelector("form[data-bulk]");
  if (page) for (const box of items(page)) box.checked = event.target.checked;
  const form = page || (event.target.matches("[data-bulk-all]") && event.target.form);
  if (!form) return;
  count(form);
  tell(form);
});
// How high the bar is, for what must stay clear of it: in a narrow window its buttons stand in several lines.
const bars = new ResizeObserver((changes) => {
  for (const { target } of changes) {
    if (target.offsetHeight) document.documentElement.style.setProperty("--bulk-room", `${target.offsetHeight}px`);
  }
});
document.body.addEventListener("htmx:load", (event) => {
  // With script only the page scrolls: the place of the rows need not be reached by keyboard, nor be named like the list around it.
  for (const place of event.detail.elt.querySelectorAll(".list .table-scroll")) {
    for (const name of ["tabindex", "role", "aria-label"]) place.removeAttribute(name);
  }
  const inside = event.detail.elt.querySelectorAll("form[data-bulk]");
  for (const form of inside) {
    count(form);
    bars.observe(form);
  }
});
// What stands above the list leads back to it as it is filtered by now.
document.body.addEventListener("htmx:pushedIntoHistory", (event) => {
  for (const link of document.querySelectorAll('.page-actions a[href*="back="]')) {
    const address = new URL(link.href);
    address.searchParams.set("back", event.detail.path);
    link.href = address.pathname + address.search;
  }
  for (const field of document.querySelectorAll('main input[name="back"]')) {
    if (!field.closest(".list")) field.value = event.detail.path;
  }
});
