// The survey prompt: opens over a page when something waits. An optional one that was closed stays closed for this sign-in and
// waits behind the badge in the header; a required one goes on asking, and holds Help and Sign out itself.
const box = document.getElementById("prompt-box");
const body = document.getElementById("prompt-body");
const badge = document.getElementById("prompt-badge");
const CLOSED = "muster-prompt-closed";

const card = () => body.querySelector(".prompt");
const insists = () => card()?.dataset.enforcement === "required";

function wasClosed() {
  try { return localStorage.getItem(CLOSED) === box.dataset.signIn; } catch { return false; }
}

function open() {
  if (!box.open) box.showModal();
  (body.querySelector(".error-summary") ?? body.querySelector("[data-focus]"))?.focus({ preventScroll: true });
  box.scrollTop = 0;
}

function settle() {
  const shown = card();
  tell("");
  count(body);
  if (!shown) return box.close();
  box.dataset.enforcement = shown.dataset.enforcement;
  box.setAttribute("closedby", insists() ? "none" : "closerequest");
  document.getElementById("prompt-status").textContent = body.querySelector("[data-said]")?.textContent.trim() ?? "";
  if (box.open || insists() || !(wasClosed() || isTyping() || document.querySelector("dialog[open]"))) open();
}

// Then an optional one waits behind the badge until the next page.
function isTyping() {
  const TYPED = "input:not([type=checkbox], [type=radio], [type=submit], [type=button], [type=file]), textarea, select";
  return document.activeElement.matches(TYPED);
}

// How many surveys the person may answer comes with the prompt, or with the page that lists them.
function count(part) {
  const told = part.querySelector("[data-open]");
  if (!told) return;
  for (const link of document.querySelectorAll("[data-open-questions]")) {
    const number = link.querySelector("[data-open-count]");
    number.textContent = Number(told.dataset.open) || "";
    number.hidden = !number.textContent;
    link.setAttribute("aria-label", told.dataset.openLabel);
  }
}
count(document);

function tell(text, ...more) {
  const line = document.getElementById("prompt-failure");
  line.hidden = !text;
  line.firstElementChild.replaceChildren(text, ...more);
  if (text) line.focus();
}

function signInLink() {
  const link = document.createElement("a");
  Object.assign(link, { href: "/sign-in", target: "_blank", rel: "noopener", textContent: "Sign in (opens in a new tab)" });
  return link;
}

if (box) {
  body.addEventListener("htmx:afterSwap", (event) => { if (event.detail.target === body) settle(); });
  badge.addEventListener("click", (event) => {
    if (!card() || event.button || event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    open();
  });
  document.getElementById("prompt-close").addEventListener("click", () => box.close());
  box.addEventListener("close", () => {
    if (insists()) return open();
    if (!card()) return;
    try { localStorage.setItem(CLOSED, box.dataset.signIn); } catch { /* private mode: it asks again on the next page */ }
    badge.focus();
  });
  // Ahead of what closes other dialogs, and of what asks about unsaved work: closing this one keeps what was typed.
  addEventListener("cancel", (event) => {
    if (event.target !== box) return;
    event.stopImmediatePropagation();
    if (insists()) event.preventDefault();
  }, true);
  addEventListener("pointerdown", (event) => {
    if (event.target === box && insists()) event.stopImmediatePropagation();
  }, true);
  // Whoever was signed out meanwhile would be sent to the sign-in page, away from what they wrote.
  body.addEventListener("htmx:beforeOnLoad", (event) => {
    if (event.detail.xhr.status !== 401 || !box.open) return;
    event.preventDefault();
    tell("You were signed out meanwhile, so nothing was sent. Copy what you wrote, then sign in and answer again. ", signInLink());
  });
  // The toasts lie behind the dialog.
  body.addEventListener("htmx:responseError", (event) => {
    const id = event.detail.xhr.getResponseHeader("X-Request-ID");
    if (box.open) tell(`The server could not take your answer${id ? ` (request ${id})` : ""}. It is still here: try again.`);
  });
  body.addEventListener("htmx:sendError", () => {
    if (box.open) tell("The server cannot be reached. Your answer is still here: try again when the network is back.");
  });
}

// A choice that need not be made can be taken back; native radios cannot do that.
function offerClear(question) {
  const clear = question?.querySelector("[data-clear]");
  if (clear) clear.hidden = !question.querySelector(":checked");
}
document.body.addEventListener("htmx:load", (event) => {
  for (const question of event.detail.elt.querySelectorAll(".prompt-question")) offerClear(question);
});
document.addEventListener("change", (event) => offerClear(event.target.closest(".prompt-question")));
document.addEventListener("click", (event) => {
  const clear = event.target.closest("[data-clear]");
  const chosen = clear?.closest(".prompt-question").querySelector(":checked");
  if (!chosen) return;
  chosen.checked = false;
  chosen.dispatchEvent(new Event("change", { bubbles: true }));
  clear.closest(".prompt-question").querySelector("input").focus();
});
