// Fields: show a password, offer the zone of the browser, count characters, copy a text, focus the error summary, warn before typed work is lost.
document.body.addEventListener("htmx:load", (event) => {
  const part = event.detail.elt;
  for (const thing of part.querySelectorAll("[data-reveal], [data-copy]")) thing.hidden = false;
  for (const area of part.querySelectorAll("[data-counter]")) counter(area);
  for (const zones of part.querySelectorAll("[data-browser-zone] select")) ownZone(zones);
  part.querySelector(".error-summary[data-focus]")?.focus();
  // A page that has just opened leaves the focus where it begins.
  if (part !== document.body && isWhereItWasPressed()) part.querySelector("[data-next]")?.focus();
  for (const form of part.querySelectorAll("form[data-guard]")) {
    // Came back unsaved from the server: dirty before anything is typed.
    if (form.dataset.guard === "dirty") dirty.add(form);
    else if (!form.querySelector(REFUSED)) opened.set(form, written(form));
  }
});

// A button loses the focus while it is disabled. After the answer it has it again, unless something on the way took it.
let pressed = null;
document.body.addEventListener("htmx:beforeRequest", ({ detail: { elt } }) => {
  if (elt.matches("[hx-disabled-elt]")) pressed = elt.contains(document.activeElement) ? document.activeElement : null;
});
document.body.addEventListener("htmx:afterRequest", ({ detail: { elt } }) => {
  if (elt.contains(pressed) && document.activeElement === document.body) pressed.focus();
});
// The answer may bring another button in its place.
function isWhereItWasPressed() {
  const here = document.activeElement;
  return here === document.body || (pressed !== null && here.id !== "" && here.id === pressed.id);
}

function ownZone(zones) {
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (!zones.value && [...zones.options].some((one) => one.value === own)) zones.value = own;
}

function counter(area) {
  let line = area.nextElementSibling;
  if (!line?.matches(".field-counter")) {
    line = document.createElement("div");
    line.className = "field-counter form-hint";
    line.innerHTML = '<span></span><span class="visually-hidden" role="status"></span><span hidden></span>';
    line.lastChild.id = `${area.id}-count`;
    area.setAttribute("aria-describedby", `${area.getAttribute("aria-describedby") ?? ""} ${area.id}-count`.trim());
    area.after(line);
  }
  const grouped = (number) => number.toLocaleString(area.closest("[lang]").lang, { numberingSystem: "latn" });
  const words = area.dataset.counterWords ?? "{now} of {most}";
  const [now, most] = [[...area.value].length, Number(area.dataset.counter)];
  const [shown, said, described] = line.children;
  shown.textContent = words.replace("{now}", grouped(now)).replace("{most}", grouped(most));
  // A description that changes under the focus is read with each letter: so it is the one of when one came to the field.
  if (document.activeElement !== area) described.textContent = shown.textContent;
  // Read aloud is where the text comes close to its end, and where it passes it; not each letter.
  const stage = now > most ? "over" : now > 0.95 * most ? "close" : "";
  if (stage !== (line.dataset.stage ?? "")) said.textContent = stage ? shown.textContent : "";
  line.dataset.stage = stage;
}

for (const kind of ["input", "focusout"]) {
  document.addEventListener(kind, ({ target }) => { if (target.isConnected && target.matches("[data-counter]")) counter(target); });
}
document.addEventListener("click", async (event) => {
  const reveal = event.target.closest("[data-reveal] button");
  if (reveal) {
    const input = document.getElementById(reveal.parentElement.dataset.reveal);
    const shown = input.type === "text";
    input.type = shown ? "password" : "text";
    reveal.setAttribute("aria-pressed", String(!shown));
  }
  const copy = event.target.closest("[data-copy]");
  if (copy) {
    await copied(copy);
    aloud(copy, document.getElementById("flashes").dataset.copied);
    copy.classList.add("is-done");
    setTimeout(() => copy.classList.remove("is-done"), 1500);
  }
});

// A screen reader reads a line that was there before its words; of a page under an open dialog it reads nothing.
function aloud(button, words) {
  let line = button.parentElement.querySelector(":scope > [aria-live]");
  if (!line) {
    line = document.createElement("span");
    line.className = "visually-hidden";
    line.setAttribute("aria-live", "polite");
    button.after(line);
  }
  line.textContent = "";
  setTimeout(() => { line.textContent = words; }, 100);
}

// Plain http has no clipboard, except on this machine itself: there the text is selected and copied the old way.
async function copied(button) {
  if (navigator.clipboard) return navigator.clipboard.writeText(button.dataset.copy);
  const area = document.createElement("textarea");
  area.value = button.dataset.copy;
  button.after(area);
  area.select();
  document.execCommand("copy");
  area.remove();
  button.focus();
}

// Unsaved work: a form[data-guard] is dirty from the first change until it is sent, except while it says what it said when it opened.
// What was sent, or came back refused, has no such state: each change counts.
const dirty = new Set();
const opened = new WeakMap();
const REFUSED = ".error-summary, .is-invalid";
const written = (form) => JSON.stringify([...new FormData(form)].map(([name, value]) => [name, value.name ?? value]));
const differs = (form) => form.isConnected && opened.get(form) !== written(form);
const guarded = (target) => target.closest?.("form[data-guard]") ?? target.form?.closest("form[data-guard]");
document.addEventListener("muster:dirty", ({ target }) => opened.delete(target));
for (const kind of ["input", "change", "muster:dirty"]) {
  document.addEventListener(kind, (event) => { const form = guarded(event.target); if (form) dirty.add(form); });
}
function settle(event) {
  const form = guarded(event.target);
  if (!form) return;
  dirty.delete(form);
  opened.delete(form);
}
document.addEventListener("submit", settle);
document.addEventListener("muster:saved", settle);
// What could not be sent is still unsaved.
document.addEventListener("htmx:sendError", ({ target }) => { if (target.matches("form[data-guard]")) dirty.add(target); });
// What is asked about first is still unsaved, until somebody agrees.
document.addEventListener("htmx:beforeSwap", ({ detail: { requestConfig, xhr } }) => {
  const form = guarded(requestConfig.elt);
  if (form && xhr.getResponseHeader("HX-Retarget") === "#dialog") dirty.add(form);
});
addEventListener("beforeunload", (event) => {
  if ([...dirty].some(differs)) event.preventDefault();
});
document.addEventListener("cancel", (event) => keep(event, event.target), true);
document.addEventListener("muster:renew", (event) => { if (unsaved(event.target).length) event.preventDefault(); }, true);
// A browser closes the box at the third Escape, whatever one answered: an Escape that has a question to ask never reaches it.
document.addEventListener("keydown", (event) => {
  const box = [...document.querySelectorAll("dialog[open]")].at(-1);
  if (event.key !== "Escape" || event.defaultPrevented || !box || !unsaved(box).length) return;
  event.preventDefault();
  if (box.dispatchEvent(new Event("cancel", { cancelable: true }))) box.close();
});
document.addEventListener("click", (event) => {
  if (event.target.closest("dialog[open] [data-close], dialog[open] .overlay-close button")) keep(event, event.target.closest("dialog"));
}, true);
// An answer that replaces a part of an open box takes the unsaved forms in it along, except the one that is sent.
document.addEventListener("htmx:beforeRequest", (event) => {
  const { elt, target } = event.detail;
  if (target.closest?.("dialog[open]")) givenUp.set(event.detail.xhr, keep(event, target, elt.matches("a") ? null : guarded(elt)));
}, true);
// When the request fails, what was given up for it is still there, and unsaved.
document.addEventListener("htmx:afterRequest", ({ detail: { xhr } }) => {
  if (xhr.status < 200 || xhr.status >= 400) for (const form of givenUp.get(xhr) ?? []) dirty.add(form);
});
const givenUp = new WeakMap();
const unsaved = (part, sent = null) => [...dirty].filter((form) => form !== sent && part.contains(form) && differs(form));
function keep(event, part, sent = null) {
  const open = unsaved(part, sent);
  if (!open.length) return;
  if (confirm("Leave without saving what you changed?")) {
    for (const form of open) dirty.delete(form);
    return open;
  }
  event.preventDefault();
  event.stopPropagation();
}
