// Toasts: good news leaves by itself (not while looked at), bad news stays until dismissed; failed requests say so.
const region = document.getElementById("flashes");

function settle(card) {
  card.querySelector("[data-dismiss]").hidden = false;
  if (!["success", "info"].includes(card.dataset.toast)) return;
  let timer;
  const wait = () => { timer = setTimeout(() => card.remove(), 8000); };
  for (const kind of ["pointerenter", "focusin"]) card.addEventListener(kind, () => clearTimeout(timer));
  for (const kind of ["pointerleave", "focusout"]) card.addEventListener(kind, wait);
  wait();
}

function say(text) {
  const card = document.createElement("div");
  card.className = "toast-card alert alert-danger";
  card.setAttribute("role", "alert");
  card.dataset.toast = "danger";
  const words = document.createElement("div");
  words.className = "toast-text";
  words.textContent = text;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "btn btn-sm btn-ghost-secondary";
  button.dataset.dismiss = "";
  button.textContent = "Dismiss";
  card.append(words, button);
  region.append(card);
}

if (region) {
  for (const card of region.querySelectorAll("[data-toast]")) settle(card);
  new MutationObserver((changes) => {
    for (const { addedNodes } of changes) for (const node of addedNodes) if (node.matches?.("[data-toast]")) settle(node);
  }).observe(region, { childList: true });
  // The morph extension takes every swap for one of the whole element: toasts that come beside an answer are unwrapped here.
  region.addEventListener("htmx:oobBeforeSwap", (event) => {
    const { fragment } = event.detail;
    if (fragment.firstElementChild?.id === "flashes") fragment.replaceChildren(...fragment.firstElementChild.children);
  });
  document.addEventListener("click", (event) => event.target.closest("[data-dismiss]")?.closest("[data-toast]").remove());
}
document.body.addEventListener("htmx:responseError", (event) => {
  const status = event.detail.xhr.status;
  if (status === 401) return location.reload();
  const id = event.detail.xhr.getResponseHeader("X-Request-ID");
  say({ 403: "You may not do this.", 404: "This is gone, or you may not see it.", 413: "This is too large.", 429: "Too many requests. Wait a moment." }[status]
    ?? `The server could not do this${id ? ` (request ${id})` : ""}. Nothing was changed.`);
});
document.body.addEventListener("htmx:sendError", () => say("The server cannot be reached. Check the network and try again."));
