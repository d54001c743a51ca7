// A list is a queue: the drawer goes from row to row, an act can lead to the next row, and the focus stays with the row one is at.
const drawer = document.getElementById("drawer-box");
const ROW = ".list tbody tr";
// Where one is: `urls` are the rows' addresses in their order, `at` counts into them, `list` is the id of the list. `coming` is the address
// of the row that the drawer still waits for.
let place = null;
let leadsOn = false;
let focusAfterwards = null;
// What an act that leads on says, and how long after the next row.
let told = [];
const TOLD_MS = 300;
// The address of what the drawer shows.
let shown = "";

const addressOf = (link) => new URL(link.href, location.href).pathname;
const linkOf = (row) => row.querySelector("a[data-drawer]");
const rowsOf = (list) => [...document.querySelectorAll(`#${CSS.escape(list)} tbody tr`)].filter(linkOf);

function placeOf(row) {
  const list = row.closest(".list").id;
  const rows = rowsOf(list);
  const links = rows.map((one) => linkOf(one).getAttribute("href"));
  return { list, links, urls: rows.map((one) => addressOf(linkOf(one))), at: rows.indexOf(row) };
}

// The row itself; where it has left the list, the nearest one after it, then the nearest one before it.
function nearest({ list, urls, at }) {
  const rows = new Map(rowsOf(list).map((row) => [addressOf(linkOf(row)), row]));
  const order = [...urls.slice(at), ...urls.slice(0, at).reverse()];
  return rows.get(order.find((url) => rows.has(url))) ?? rows.values().next().value;
}

function focusRow(where, inside = "") {
  const row = nearest(where);
  const target = row ?? document.querySelector(`#${CSS.escape(where.list)} :is(.empty a, input[type=search])`) ?? document.getElementById("main");
  if (row) row.tabIndex = -1;
  const button = inside && row?.querySelector(inside);
  (button || target).focus({ preventScroll: true });
  row?.scrollIntoView({ block: "nearest" });
}

// Of a row that has the focus a screen reader reads its name alone.
document.addEventListener("focusin", ({ target }) => {
  if (!target.matches(ROW)) return;
  target.setAttribute("aria-label", target.querySelector("[data-title]")?.textContent.replace(/\s+/g, " ").trim() ?? "");
});

function mark() {
  for (const row of document.querySelectorAll(`${ROW}.is-open`)) row.classList.remove("is-open");
  if (place && drawer?.open) nearest(place)?.classList.add("is-open");
}

const has = (by) => place !== null && place.urls[place.at + by] !== undefined;

function step(by) {
  // As Escape does, it asks first where something is not saved.
  if (!has(by) || !drawer.dispatchEvent(new Event("cancel", { cancelable: true }))) return;
  place.at += by;
  place.moved = true;
  place.coming = place.links[place.at];
  leadsOn = false;
  const said = told;
  told = [];
  htmx.ajax("GET", place.coming, { target: "#drawer", swap: "innerHTML" }).finally(() => setTimeout(() => {
    if (!said.length) return;
    document.getElementById("flashes").append(...said);
    const [title, beneath] = drawer.querySelectorAll(".drawer-head h2, .drawer-head p");
    if (drawer.open && title) drawer.querySelector("[data-aloud]").textContent = `Next: ${title.textContent}, ${beneath?.textContent ?? ""}`;
  }, TOLD_MS));
}

// What needs a list around it is shown only where there is one.
function offer() {
  for (const steps of drawer.querySelectorAll("[data-steps]")) {
    steps.hidden = place === null;
    for (const button of steps.querySelectorAll("[data-step]")) button.disabled = !has(Number(button.dataset.step));
  }
  for (const one of drawer.querySelectorAll("[data-and-next]")) {
    one.hidden = !has(1);
    const named = one.closest("[aria-label]:is(button)");
    // The name that is read aloud has the words that are seen: "Accept and next, Ada".
    if (named && has(1)) named.ariaLabel = named.ariaLabel.replace(/^(\w+)(?: and next,)? /, "$1 and next, ");
  }
  mark();
}

// Where the drawer itself says that its row is gone, the message of the refused act says it a second time.
function sayOnce() {
  const said = drawer.querySelector("[data-refusal]")?.textContent.trim();
  for (const card of drawer.querySelectorAll("[data-toast=danger]")) if (said && card.textContent.startsWith(said)) card.remove();
}

function actedAndLeadsOn(xhr) {
  const said = xhr.getResponseHeader("HX-Trigger") ?? "";
  return leadsOn && drawer.open && xhr.status >= 200 && xhr.status < 400 && said.includes("muster:changed");
}

if (drawer) {
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-drawer]");
    const row = link?.closest(ROW);
    if (row && addressOf(linkOf(row)) === addressOf(link)) place = placeOf(row);
    else if (link && !drawer.contains(link)) place = null;
    const arrow = event.target.closest("[data-step]");
    if (arrow) step(Number(arrow.dataset.step));
  }, true);
  drawer.addEventListener("submit", (event) => {
    // A question in between ("Bind to somebody else?") keeps what the first button said.
    if (!event.target.matches(".confirm")) leadsOn = Boolean(event.submitter?.closest("[data-leads-on]")) && has(1);
  }, true);
  document.body.addEventListener("htmx:afterSettle", () => {
    if (!drawer.open) return;
    offer();
    sayOnce();
  });
  // Of an act that leads on only the message is shown, once the next row is there: a screen reader then reads both, one after the other.
  document.body.addEventListener("htmx:beforeSwap", ({ detail }) => {
    if (detail.requestConfig.verb === "get" || !actedAndLeadsOn(detail.xhr)) return;
    detail.shouldSwap = false;
    told = [...new DOMParser().parseFromString(detail.serverResponse, "text/html").querySelectorAll("#flashes > *")];
  });
  document.body.addEventListener("htmx:afterRequest", ({ detail: { xhr } }) => {
    if (xhr && actedAndLeadsOn(xhr)) step(1);
  });
  drawer.addEventListener("close", () => {
    // The browser gives the focus back to the link, where that is still there and still the one.
    const isLost = !document.activeElement?.closest?.(".list");
    if (place && (place.moved || isLost)) focusRow(place);
    place = null;
    leadsOn = false;
    mark();
  });
}

// A list that fetches its rows again keeps the focus at the row where it was. An act in the row itself leads to the next row.
document.addEventListener("click", (event) => {
  const row = event.target.closest("[data-row-act]")?.closest(ROW);
  if (!row) return;
  const here = placeOf(row);
  focusAfterwards = { ...here, at: Math.min(here.at + 1, here.urls.length - 1), inside: "[data-row-act]", from: here.at };
}, true);
// What is about to be replaced is done, or one has left it: a second press does nothing. Of a list that fetches its rows, those stay in
// use whose act was not answered yet.
const isRowAct = (elt) => elt.matches("[data-row-act]") || elt.querySelector(":scope > [data-row-act]") !== null;
document.body.addEventListener("htmx:beforeRequest", (event) => {
  const { elt, requestConfig } = event.detail;
  const isInDrawer = drawer?.contains(elt) ?? false;
  const isReplaced = (isInDrawer && place?.coming) || elt.closest(".htmx-swapping, .list-results.htmx-request tr.is-answered");
  if (isReplaced && requestConfig.verb === "post" && (isInDrawer || isRowAct(elt))) event.preventDefault();
});
document.body.addEventListener("htmx:afterRequest", ({ detail: { elt } }) => {
  if (isRowAct(elt)) elt.closest(ROW)?.classList.add("is-answered");
});
// A row whose act is refused is out of date: the list fetches its rows, and the focus stays with that row. So is the drawer whose act
// is refused, and the row behind it; only what somebody typed into the drawer is not replaced.
document.body.addEventListener("htmx:afterRequest", ({ detail: { elt, xhr, requestConfig, target } }) => {
  if (target?.id === "drawer" && requestConfig.verb === "get") {
    shown = requestConfig.path;
    if (place?.coming === shown) place.coming = null;
  }
  const isInDrawer = drawer?.contains(elt) && requestConfig.verb === "post";
  if (!(isRowAct(elt) || isInDrawer) || !["404", "409"].includes(xhr?.getResponseHeader("X-Refusal"))) return;
  if (focusAfterwards) focusAfterwards.at = focusAfterwards.from;
  htmx.trigger(document.body, "muster:changed");
  // A moment later it is known again what is unsaved (static/js/fields.js).
  if (isInDrawer) setTimeout(renew);
});
function renew() {
  // The row that comes is up to date.
  if (place?.coming) return;
  if (drawer.open && drawer.dispatchEvent(new Event("muster:renew", { cancelable: true }))) htmx.ajax("GET", shown, { target: "#drawer", swap: "innerHTML" });
}
document.body.addEventListener("htmx:beforeSwap", (event) => {
  if (!event.detail.target.matches?.(".list-results") || focusAfterwards) return;
  const row = document.activeElement?.closest?.(ROW);
  if (row && linkOf(row)) focusAfterwards = { ...placeOf(row), inside: "" };
});
document.body.addEventListener("htmx:afterSettle", (event) => {
  if (!event.detail.target?.matches?.(".list-results") || !focusAfterwards) return;
  const { inside, ...where } = focusAfterwards;
  focusAfterwards = null;
  if (!document.querySelector("dialog[open]")) focusRow(where, inside);
  mark();
});

// An act that is agreed to in the dialog opens the page again: the focus goes to the row after those acted on.
const KEPT = "muster:row";
// After an act on a whole filter no row is known to be next.
function atTheFirst() {
  const list = document.querySelector("form[data-bulk].is-whole")?.closest(".list")?.id;
  return list ? { list, urls: [], at: 0, page: location.pathname } : null;
}
function afterThese() {
  const ticked = [...document.querySelectorAll(`${ROW}.is-selected`)].filter(linkOf);
  const here = place ?? (ticked.length ? placeOf(ticked.at(-1)) : null);
  if (!here) return atTheFirst();
  const gone = new Set(place ? [place.urls[place.at]] : ticked.map((row) => addressOf(linkOf(row))));
  const stays = (url) => !gone.has(url);
  return { list: here.list, urls: here.urls.filter(stays), at: here.urls.slice(0, here.at).filter(stays).length, page: location.pathname };
}
document.addEventListener("submit", (event) => {
  const next = event.target.matches("#dialog form.confirm") && afterThese();
  if (next) sessionStorage.setItem(KEPT, JSON.stringify(next));
});
const kept = JSON.parse(sessionStorage.getItem(KEPT) ?? "null");
sessionStorage.removeItem(KEPT);
if (kept?.page === location.pathname && document.getElementById(kept.list)) focusRow(kept);
