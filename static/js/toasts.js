// Toasts: good news leaves by itself (not while looked at), bad news stays until dismissed; failed requests say so.
const region = document.getElementById("flashes");

// Beneath an open box a message is neither seen nor read aloud: it stands in the box, and outlives what the box shows.
function place() {
  return [...document.querySelectorAll("dialog[open] > [data-flashes]")].at(-1) ?? region;
}

// The buttons at the foot of a drawer, or of its page, stand in one line or in several.
function standClear(stage) {
  const foot = (stage.closest("dialog") ?? document.querySelector("main")).querySelector(".drawer-foot");
  const height = foot ? innerHeight - foot.getBoundingClientRect().top : 0;
  stage.style.bottom = height > 0 ? `${height + 8}px` : "";
}

function settle(card) {
  card.querySelector("[data-dismiss]").hidden = false;
  if (!["success", "info"].includes(card.dataset.toast)) return;
  let timer;
  const wait = () => { timer = setTimeout(() => card.remove(), 8000); };
  for (const kind of ["pointerenter", "focusin"]) card.addEventListener(kind, () => clearTimeout(timer));
  for (const kind of ["pointerleave", "focusout"]) card.addEventListener(kind, wait);
  wait();
}

function arrive(card) {
  if (!card.dataset.since) settle(card);
  card.dataset.since ??= Date.now();
  if (place() !== card.parentElement) place().append(card);
  standClear(card.parentElement);
  // Of good news, one act after the other, the last two are enough: more would lie over what one works on.
  for (const old of [...place().querySelectorAll('[data-toast="success"]')].slice(0, -2)) old.remove();
}

function say(text, below = []) {
  const card = document.createElement("div");
  card.className = "toast-card alert alert-danger";
  card.dataset.toast = "danger";
  card.dataset.since = Date.now();
  const words = document.createElement("div");
  words.className = "toast-text";
  const line = document.createElement("div");
  line.append(...below);
  words.append(text, line);
  const button = document.createElement("button");
  button.type = "button";
  button.className = "btn btn-sm btn-ghost-secondary";
  button.dataset.dismiss = "";
  button.textContent = region.dataset.dismissWords;
  card.append(words, button);
  const stage = place();
  for (const old of stage.querySelectorAll('[data-toast="danger"]')) old.remove();
  stage.prepend(card);
  standClear(stage);
  card.scrollIntoView({ block: "nearest" });
}

if (region) {
  for (const kind of ["resize", "scroll"]) addEventListener(kind, () => standClear(place()), { passive: true });
  document.body.addEventListener("htmx:afterSettle", () => standClear(place()));
  // Read aloud is what comes into the region, not what stands there as the page opens: so that comes a moment later.
  const waiting = [...region.querySelectorAll("[data-toast]")];
  for (const card of waiting) card.remove();
  if (waiting.length) setTimeout(() => region.append(...waiting), 100);
  new MutationObserver((changes) => {
    for (const { addedNodes } of changes) for (const node of addedNodes) if (node.matches?.("[data-toast]")) arrive(node);
  }).observe(region, { childList: true });
  for (const box of document.querySelectorAll("dialog")) {
    box.addEventListener("close", () => {
      for (const card of box.querySelectorAll(":scope > [data-flashes] > *")) {
        // What was read aloud in the box is not read again; what came as it closed was not read yet.
        if (Date.now() - card.dataset.since > 1000) card.setAttribute("aria-live", "off");
        region.append(card);
      }
    });
  }
  // The morph extension takes every swap for one of the whole element: toasts that come beside an answer are unwrapped here.
  region.addEventListener("htmx:oobBeforeSwap", (event) => {
    const { fragment } = event.detail;
    if (fragment.firstElementChild?.id === "flashes") fragment.replaceChildren(...fragment.firstElementChild.children);
  });
  document.addEventListener("click", (event) => event.target.closest("[data-dismiss]")?.closest("[data-toast]").remove());
}
// A refusal has words of its own: they fill the box that was to open, and stand beside anything else, which stays as it is.
document.body.addEventListener("htmx:beforeSwap", (event) => {
  const { xhr, target, requestConfig, serverResponse } = event.detail;
  if (!xhr.getResponseHeader("X-Refusal") || target.id === "prompt-body") return;
  event.detail.shouldSwap = requestConfig.verb === "get" && ["drawer", "dialog"].includes(target.id);
  event.detail.isError = false;
  if (event.detail.shouldSwap) return;
  const page = new DOMParser().parseFromString(serverResponse, "text/html");
  say(page.querySelector("[data-refusal]").textContent.trim(), page.querySelector("[data-refusal-number]")?.childNodes);
});
document.body.addEventListener("htmx:responseError", (event) => {
  const { xhr } = event.detail;
  if (xhr.status === 401) return location.reload();
  const { tooLarge, tooMany, failed, numbered } = region.dataset;
  const id = xhr.getResponseHeader("X-Request-ID");
  say({ 413: tooLarge, 429: tooMany }[xhr.status] ?? `${failed}${id ? ` ${numbered} \u2066${id}\u2069` : ""}`);
});
document.body.addEventListener("htmx:sendError", () => say(region.dataset.unreachable));
