// The survey prompt. A required survey is a dialog over the page, which holds Help and Sign out itself. An optional one is a card in
// the corner that never takes the focus. While the person works on the page it is folded to one line; put away, it stays away for this
// sign-in and waits behind the badge in the header.
const box = document.getElementById("prompt-box");
const corner = document.getElementById("prompt-corner");
const stage = document.getElementById("prompt-stage");
const body = document.getElementById("prompt-body");
const badge = document.getElementById("prompt-badge");
const CLOSED = "muster-prompt-closed";
const FOLDED = "muster-prompt-folded";
const foldLine = document.getElementById("prompt-line");
// On a phone the card stands in the page's flow, and covers nothing.
const liesOver = matchMedia("(min-width: 48rem)");

const card = () => body.querySelector(".prompt");
const insists = () => card()?.dataset.enforcement === "required";

function wasPutAway() {
  try { return localStorage.getItem(CLOSED) === box.dataset.signIn; } catch { return false; }
}

// Which prompt was folded: another one, or that of the next sign-in, comes in full.
const foldName = () => `${box.dataset.signIn} ${card().dataset.page}`;

function wasFolded() {
  try { return liesOver.matches && sessionStorage.getItem(FOLDED) === foldName(); } catch { return false; }
}

function fold() {
  const title = card().querySelector(".prompt-title");
  const words = document.getElementById("prompt-line-title");
  words.textContent = title.textContent;
  words.lang = title.lang;
  foldLine.hidden = false;
  stage.hidden = true;
  corner.classList.add("is-folded");
}

function unfold() {
  foldLine.hidden = true;
  stage.hidden = false;
  corner.classList.remove("is-folded");
}

// The person works on the page. What they press must not move beneath the pointer: the page keeps its length until the next one.
function works(event) {
  if (!liesOver.matches || corner.hidden || !foldLine.hidden || card()?.dataset.enforcement !== "optional") return;
  if (corner.contains(event.target) || badge.contains(event.target)) return;
  if (["Shift", "Control", "Alt", "Meta"].includes(event.key)) return;
  try { sessionStorage.setItem(FOLDED, foldName()); } catch { /* private mode: it comes in full on the next page */ }
  fold();
}

// `acted`: the person sent or asked for something from the prompt, so their focus belongs in it.
function settle(acted) {
  tell("");
  count(body);
  const shown = card();
  if (insists() || (box.open && shown?.dataset.done)) return over();
  if (!shown || (wasPutAway() && !acted)) return leave(acted);
  beside();
  if (acted) focusIn();
  else if (wasFolded()) fold();
  else document.getElementById("prompt-arrived").textContent = shown.dataset.arrived;
}

function over() {
  corner.hidden = true;
  unfold();
  box.append(stage);
  box.setAttribute("closedby", insists() ? "none" : "closerequest");
  if (!box.open) box.showModal();
  document.getElementById("prompt-status").textContent = said();
  box.scrollTop = 0;
  focusIn();
}

function beside() {
  unfold();
  corner.append(stage);
  if (box.open) box.close();
  corner.hidden = false;
  corner.scrollTop = 0;
  document.getElementById("prompt-arrived").textContent = said();
}

function leave(acted) {
  if (box.open) box.close();
  corner.hidden = true;
  if (acted && document.activeElement === document.body) badge.focus();
}

// What became of the answer before, which stands above the next survey.
function said() {
  return body.querySelector("[data-said]")?.textContent.trim() ?? "";
}

function focusIn() {
  const sure = body.querySelector("[data-confirm]");
  if (sure) return sure.focus();
  (body.querySelector(".error-summary") ?? body.querySelector("[data-focus]"))?.focus({ preventScroll: true });
}

function putAway() {
  const wasInside = corner.contains(document.activeElement);
  corner.hidden = true;
  if (card()?.dataset.done) return ask();
  try { localStorage.setItem(CLOSED, box.dataset.signIn); } catch { /* private mode: it comes again on the next page */ }
  if (wasInside) badge.focus();
}

// What waits next, once the last words of an answer were read.
let asked = false;
function ask() {
  asked = true;
  body.replaceChildren();
  htmx.ajax("GET", "/survey_prompt", { target: body });
}

// How many surveys the person may answer comes with the prompt, or with the page that lists them.
function count(part) {
  const told = part.querySelector("[data-open]");
  if (!told) return;
  for (const link of document.querySelectorAll("[data-open-questions]")) {
    const number = link.querySelector("[data-open-count]");
    number.textContent = Number(told.dataset.open) || "";
    number.hidden = !number.textContent;
    if (link.hasAttribute("aria-label")) link.setAttribute("aria-label", told.dataset.openLabel);
  }
}

// One of the sentences that stand in the page (templates/components/prompt_box.html).
function tell(what, request) {
  const line = document.getElementById("prompt-failure");
  line.hidden = !what;
  for (const one of line.children) one.hidden = one.dataset.failure !== what;
  const number = line.querySelector(`[data-failure="${what}"] [data-told-id]`);
  if (number) number.textContent = request ?? "–";
  const way = line.querySelector(`[data-failure="${what}"] [data-way-back]`);
  // The server no longer knows whose language it was.
  if (way) way.href = `/sign-in?${new URLSearchParams({ next: card().dataset.page, lang: corner.lang })}`;
  if (what) line.focus();
}
count(document);

if (box) {
  body.addEventListener("htmx:afterSwap", (event) => {
    if (event.detail.target !== body) return;
    settle(asked || event.detail.requestConfig.verb === "post");
    asked = false;
  });
  badge.addEventListener("click", (event) => {
    if (!card() || event.button || event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    beside();
    corner.scrollIntoView({ block: "nearest" });
    focusIn();
  });
  corner.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || event.defaultPrevented) return;
    event.preventDefault();
    putAway();
  });
  stage.addEventListener("click", (event) => {
    if (!event.target.closest("[data-put-away]")) return;
    if (box.open) box.close();
    else putAway();
  });
  document.getElementById("prompt-close").addEventListener("click", putAway);
  document.getElementById("prompt-unfold").addEventListener("click", () => {
    try { sessionStorage.removeItem(FOLDED); } catch { /* private mode */ }
    beside();
    focusIn();
  });
  for (const kind of ["pointerdown", "keydown"]) addEventListener(kind, works, true);
  liesOver.addEventListener("change", () => { if (!liesOver.matches) unfold(); });
  // The page gets as much room below as the card takes, so that everything can be scrolled clear of it.
  let longest = 0;
  new ResizeObserver(() => {
    const room = corner.hidden ? 0 : corner.offsetHeight;
    longest = foldLine.hidden ? room : Math.max(longest, room);
    document.documentElement.style.setProperty("--prompt-room", `${room}px`);
    document.documentElement.style.setProperty("--prompt-end", `${longest}px`);
  }).observe(corner);
  box.addEventListener("close", () => {
    if (insists()) return over();
    if (card()?.dataset.done && box.contains(stage)) ask();
  });
  // Ahead of what closes other dialogs.
  addEventListener("cancel", (event) => {
    if (event.target !== box) return;
    event.stopImmediatePropagation();
    if (insists()) event.preventDefault();
  }, true);
  addEventListener("pointerdown", (event) => {
    if (event.target === box && insists()) event.stopImmediatePropagation();
  }, true);
  // A person who was signed out meanwhile would be sent to the sign-in page, away from what they wrote.
  body.addEventListener("htmx:beforeOnLoad", (event) => {
    if (event.detail.xhr.status !== 401 || !card()) return;
    event.preventDefault();
    tell("signed-out");
  });
  // The toasts lie behind the dialog.
  body.addEventListener("htmx:responseError", (event) => {
    if (!card()) return;
    const { status } = event.detail.xhr;
    tell(status === 403 ? "outdated" : "server", event.detail.xhr.getResponseHeader("X-Request-ID"));
  });
  body.addEventListener("htmx:sendError", () => { if (card()) tell("unreachable"); });
}

// The second press of a double click on Agree or Disagree is no answer to whether one is sure.
document.addEventListener("click", (event) => {
  if (event.detail > 1 && event.target.closest("[data-confirm]")) event.preventDefault();
}, true);

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
