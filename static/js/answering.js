// The questions of a survey while somebody answers them: those with a condition come and go, and pages turn. The rule is the one of
// app/surveys/showing.py, where the server decides by it. Without this script all questions stand there, conditions in words.
const currents = new WeakMap();

const all = (card, what) => [...card.querySelectorAll(what)];
const chosen = (asked) => all(asked, "input:checked").map((input) => input.value);

function isMet({ dataset }, ticks) {
  const values = JSON.parse(dataset.values);
  return ticks.length > 0 && ticks.some((one) => values.includes(one)) === (dataset.is === "in");
}

function showAsked(card) {
  const shown = new Map();
  for (const asked of all(card, "[data-number]")) {
    const before = shown.get(asked.dataset.if);
    const visible = !asked.dataset.if || Boolean(before && isMet(asked, chosen(before)));
    if (visible) shown.set(asked.dataset.number, asked);
    asked.hidden = !visible;
    // What is hidden is not sent, and stays as it was chosen.
    for (const field of all(asked, "input, textarea")) field.disabled = !visible;
  }
}

// Pages that hold nothing to show are left out.
const openParts = (card) => all(card, "[data-part]").filter((part) => part.querySelector("[data-number]:not([hidden])"));
const hasPages = (card) => all(card, "[data-part]").length > 1;

function currentOf(card, parts) {
  const kept = currents.get(card);
  if (parts.includes(kept)) return kept;
  const every = all(card, "[data-part]");
  const earlier = parts.filter((part) => every.indexOf(part) < every.indexOf(kept));
  return earlier.at(-1) ?? parts[0];
}

function showPage(card) {
  if (!hasPages(card)) return;
  const parts = openParts(card);
  const current = currentOf(card, parts);
  currents.set(card, current);
  const at = parts.indexOf(current);
  const last = at === parts.length - 1;
  for (const part of all(card, "[data-part]")) part.hidden = part !== current;
  current.querySelector("[data-part-number]").textContent = worded(card, "pageWords", { page: at + 1, pages: parts.length });
  card.querySelector("[data-turn]").hidden = parts.length === 1;
  card.querySelector("[data-back]").hidden = at === 0;
  card.querySelector("[data-next]").hidden = last;
  for (const way of all(card, ".prompt-decide, .prompt-send, .prompt-note")) way.hidden = !last;
  // What is agreed to stays in view.
  const message = card.querySelector(".prompt-message");
  if (message) message.hidden = at > 0 && !card.querySelector(".prompt-agreement");
}

function update(card) {
  showAsked(card);
  showPage(card);
}

function turn(card, step) {
  const parts = openParts(card);
  const to = parts[parts.indexOf(currents.get(card)) + step];
  say(card, "");
  if (!to || (step > 0 && lacksAnswer(card))) return;
  currents.set(card, to);
  showPage(card);
  to.querySelector("[data-part-number]").focus();
}

// A page is left forwards only when its required questions have an answer: the server would send the person back.
function lacksAnswer(card) {
  const asked = all(currents.get(card), "[data-required]:not([hidden])").find((one) => !isAnswered(one));
  if (!asked) return false;
  const label = (asked.querySelector(".prompt-label")?.firstChild.textContent ?? "").trim();
  say(card, worded(card, "lacksWords", { question: label }));
  asked.querySelector("input, textarea").focus();
  return true;
}

function isAnswered(asked) {
  const fields = all(asked, "input, textarea");
  const groups = grouped(fields);
  const filled = (one) => (one.type === "radio" || one.type === "checkbox" ? one.checked : one.value.trim() !== "");
  return [...groups.values()].every((group) => group.some(filled));
}

function grouped(fields) {
  const groups = new Map();
  for (const one of fields) groups.set(one.name, [...(groups.get(one.name) ?? []), one]);
  return groups;
}

function say(card, text) {
  card.querySelector("[data-turn-said]").textContent = text;
}

// What is said here stands in the page, in its language, with {names} of what belongs into it.
function worded(card, name, values) {
  return card.querySelector("[data-turn]").dataset[name].replace(/\{(\w+)\}/g, (_, key) => values[key]);
}

function goTo(card, part) {
  if (!part || !hasPages(card)) return;
  currents.set(card, part);
  showPage(card);
}

function begin(card) {
  for (const words of all(card, ".prompt-if")) words.hidden = true;
  showAsked(card);
  const end = card.hasAttribute("data-at-end") ? openParts(card).at(-1) : null;
  goTo(card, card.querySelector("[data-part]:has(.field-error)") ?? end ?? card.querySelector("[data-part]"));
}

document.body.addEventListener("htmx:load", (event) => {
  const { elt } = event.detail;
  for (const card of [...(elt.matches(".prompt") ? [elt] : []), ...all(elt, ".prompt")]) begin(card);
});
document.addEventListener("change", (event) => {
  const card = event.target.closest(".prompt");
  if (card) update(card);
});
document.addEventListener("click", (event) => {
  const card = event.target.closest(".prompt");
  if (!card) return;
  if (event.target.closest("[data-next]")) turn(card, 1);
  if (event.target.closest("[data-back]")) turn(card, -1);
  const link = event.target.closest(".error-summary a[href^='#']");
  if (link) goTo(card, document.getElementById(link.hash.slice(1))?.closest("[data-part]"));
}, true);
// The Enter key presses the form's first button, which decides nothing: before the last page it turns the page.
document.addEventListener("submit", (event) => {
  const card = event.target.closest(".prompt");
  if (!card || !hasPages(card) || event.submitter?.value !== "" || card.querySelector("[data-next]").hidden) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  turn(card, 1);
}, true);
