// A table that is wider than its place shows its rows as cards: the page never scrolls sideways (static/css/lists.css).
const TABLES = ".table-scroll:has(> .stacked)";

function fit(place) {
  place.classList.remove("is-narrow");
  const table = place.querySelector(":scope > .stacked");
  place.classList.toggle("is-narrow", table.offsetWidth > place.clientWidth + 1);
}

const watched = new ResizeObserver((changes) => {
  for (const { target } of changes) for (const place of target.querySelectorAll(`:scope > ${TABLES}, :scope > .table-scroll`)) if (place.matches(TABLES)) fit(place);
});

document.body.addEventListener("htmx:load", (event) => {
  const inside = event.detail.elt;
  for (const place of inside.querySelectorAll(TABLES)) watched.observe(place.parentElement);
});
