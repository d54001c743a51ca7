// What a person chose or typed in a survey outlives a lost connection, a reload and an ended session: it is kept in this browser
// for this survey, version and person. It goes when it was sent, at sign-out, when somebody else signs in, and after seven days.
const PREFIX = "muster-draft:";
const KEPT_MS = 7 * 24 * 3600 * 1000;
const { person } = document.body.dataset;

// Without storage (private mode, full) the browser asks before typed work is lost, as for any other form.
function stored(act, otherwise) {
  try { return act(localStorage); } catch { return otherwise; }
}

function keys() {
  return stored((storage) => Object.keys(storage).filter((key) => key.startsWith(PREFIX)), []);
}

function drop(key) {
  stored((storage) => storage.removeItem(key));
}

function read(key) {
  return stored((storage) => JSON.parse(storage.getItem(key)), null);
}

const keyOf = (form) => `${PREFIX}${form.querySelector("[name=person]").value}:${form.dataset.draft}`;
const fieldsOf = (form) => [...form.elements].filter((field) => field.name.startsWith("q-"));
const isTicked = (field) => ["radio", "checkbox"].includes(field.type);

function valuesOf(form) {
  const values = {};
  for (const field of fieldsOf(form)) {
    if (isTicked(field) ? !field.checked : !field.value) continue;
    (values[field.name] ??= []).push(field.value);
  }
  return values;
}

function save(form) {
  const values = valuesOf(form);
  if (!Object.keys(values).length) return drop(keyOf(form));
  const text = JSON.stringify({ at: Date.now(), values });
  const kept = stored((storage) => { storage.setItem(keyOf(form), text); return true; }, false);
  form.toggleAttribute("data-guard", !kept);
}

let restoring = false;
function restore(form) {
  const draft = read(keyOf(form));
  if (!draft) return;
  restoring = true;
  for (const field of fieldsOf(form)) {
    const given = draft.values[field.name] ?? [];
    if (isTicked(field)) field.checked = given.includes(field.value);
    else field.value = given[0] ?? "";
  }
  for (const field of fieldsOf(form)) {
    if (!isTicked(field) || field.checked) field.dispatchEvent(new Event(isTicked(field) ? "change" : "input", { bubbles: true }));
  }
  restoring = false;
}

// On a page without a person, such as the one for signing in, all wait for their person.
function sweep() {
  for (const key of keys()) {
    const age = Date.now() - (read(key)?.at ?? 0);
    const theirs = key.startsWith(`${PREFIX}${person}:`);
    if (age > KEPT_MS || (person && !theirs)) drop(key);
  }
}
sweep();

// What the server gives back, after a refusal or a new sign-in, is newer than what was kept here.
document.body.addEventListener("htmx:load", (event) => {
  for (const told of event.detail.elt.parentElement?.querySelectorAll("[data-sent]") ?? []) drop(`${PREFIX}${person}:${told.dataset.sent}`);
  for (const form of event.detail.elt.querySelectorAll("form[data-draft]")) {
    if (form.hasAttribute("data-given")) save(form);
    else restore(form);
  }
});
for (const kind of ["input", "change"]) {
  document.addEventListener(kind, (event) => {
    const form = event.target.closest?.("form[data-draft]");
    if (form && !restoring) save(form);
  });
}
// Without a network the browser would put a page of its own in the place of what was written. A prompt over a page says so itself.
document.addEventListener("submit", (event) => {
  if (navigator.onLine || !event.target.matches("form[data-draft]:not([hx-post])")) return;
  event.preventDefault();
  htmx.trigger(event.target, "htmx:sendError");
});
document.addEventListener("submit", (event) => {
  if (event.target.getAttribute("action") === "/sign-out") keys().forEach(drop);
});
