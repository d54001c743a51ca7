// The editor's questions: added, copied, taken away, brought back and moved in the page. Without this script the same buttons
// submit the form, and the server sends it back changed (app/surveys/pages/editor_questions.py).
const form = document.getElementById("survey-form");
const list = document.getElementById("questions");
const add = document.getElementById("add-question");
const most = Number(list.dataset.most);

const rows = () => [...list.children];
const kept = () => rows().filter((row) => !row.classList.contains("is-removed"));
const part = (row, name) => row.querySelector(`[data-${name}]`);
const button = (row, act) => part(row, `act="${act}"`);
const place = (row) => kept().indexOf(row) + 1;
const focus = (row, id) => (document.getElementById(`${id}-${row.dataset.row}`) ?? part(row, "text")).focus();

function say(text) {
  document.getElementById("questions-said").textContent = text;
}

function settle() {
  const live = kept();
  live.forEach((row, index) => {
    for (const number of row.querySelectorAll("[data-number]")) number.textContent = index + 1;
    button(row, "up").disabled = index === 0;
    button(row, "down").disabled = index === live.length - 1;
    button(row, "duplicate").disabled = live.length >= most;
  });
  for (const row of rows()) {
    const undo = button(row, "restore");
    undo.disabled = row.classList.contains("is-removed") && live.length >= most;
  }
  add.disabled = live.length >= most;
  document.querySelector("[data-count]").textContent = `${live.length} of ${most}`;
}

function changed(text) {
  settle();
  say(text);
  form.dispatchEvent(new CustomEvent("muster:dirty", { bubbles: true }));
}

function freshName() {
  const taken = new Set(rows().map((row) => row.dataset.row));
  let number = 1;
  while (taken.has(`q${number}`)) number += 1;
  return `q${number}`;
}

function made() {
  const shell = document.createElement("template");
  shell.innerHTML = document.getElementById("question-template").innerHTML.replaceAll("samplerow", freshName());
  return shell.content.firstElementChild;
}

const acts = {
  up(row) { move(row, -1); },
  down(row) { move(row, 1); },
  duplicate(row) {
    const copy = made();
    row.after(copy);
    for (const name of ["text", "type", "options"]) part(copy, name).value = part(row, name).value;
    copy.querySelector("[type=checkbox]").checked = row.querySelector("[type=checkbox]").checked;
    changed(`Question ${place(row)} was copied; the copy is question ${place(copy)}.`);
    focus(copy, "f-label");
  },
  remove(row) {
    const number = place(row);
    part(row, "gone").textContent = part(row, "text").value.trim() || `question ${number}`;
    mark(row, true);
    changed(`Question ${number} was removed. Undo brings it back.`);
    focus(row, "restore");
  },
  restore(row) {
    mark(row, false);
    changed(`It is question ${place(row)} again.`);
    focus(row, "f-label");
  },
};

function mark(row, removed) {
  row.classList.toggle("is-removed", removed);
  part(row, "removed").value = removed ? "1" : "";
}

function move(row, step) {
  const live = kept();
  const other = live[live.indexOf(row) + step];
  if (!other) return;
  if (step < 0) other.before(row); else other.after(row);
  const act = step < 0 ? "up" : "down";
  changed(`Moved to place ${place(row)} of ${live.length}.`);
  const pressed = button(row, act);
  (pressed.disabled ? button(row, act === "up" ? "down" : "up") : pressed).focus();
}

form.addEventListener("click", (event) => {
  const pressed = event.target.closest("button[data-act]");
  if (!pressed) return;
  event.preventDefault();
  acts[pressed.dataset.act](pressed.closest(".question"));
});

add.addEventListener("click", (event) => {
  event.preventDefault();
  const row = made();
  list.append(row);
  changed(`Question ${place(row)} was added.`);
  focus(row, "f-label");
  row.scrollIntoView({ block: "nearest" });
});

// Dragging by the grip, with mouse, pen or finger: the row goes where the pointer is; the list scrolls at the window's edges.
let dragged = null;

list.addEventListener("pointerdown", (event) => {
  const grip = event.target.closest("[data-grip]");
  if (!grip || event.button !== 0) return;
  event.preventDefault();
  dragged = { row: grip.closest(".question"), from: rows().indexOf(grip.closest(".question")), y: event.clientY };
  dragged.row.classList.add("is-dragged");
  grip.setPointerCapture(event.pointerId);
  requestAnimationFrame(glide);
});
list.addEventListener("pointermove", (event) => {
  if (!dragged) return;
  dragged.y = event.clientY;
  reach();
});
for (const kind of ["pointerup", "pointercancel", "lostpointercapture"]) list.addEventListener(kind, drop);

// The others move around the dragged row: taken out of the page itself, it would lose the pointer.
function reach() {
  const { row, y } = dragged;
  const live = kept();
  const at = live.indexOf(row);
  const middle = (other, end, step) => other.getBoundingClientRect()[end] + step * Math.min(other.offsetHeight, 80) / 2;
  for (const other of live.slice(at + 1)) if (y > middle(other, "bottom", -1)) row.before(other);
  for (const other of live.slice(0, at).reverse()) if (y < middle(other, "top", 1)) row.after(other);
}

function glide() {
  if (!dragged) return;
  const edge = 90;
  const over = dragged.y - (innerHeight - edge);
  const under = 110 + edge - dragged.y;
  const step = over > 0 ? over : under > 0 ? -under : 0;
  if (step) { scrollBy({ top: step / 6, behavior: "instant" }); reach(); }
  requestAnimationFrame(glide);
}

function drop() {
  if (!dragged) return;
  const { row, from } = dragged;
  dragged = null;
  row.classList.remove("is-dragged");
  if (rows().indexOf(row) !== from) changed(`Moved to place ${place(row)} of ${kept().length}.`);
}

// Pacing belongs to optional surveys.
form.addEventListener("change", (event) => {
  if (event.target.name === "enforcement") document.getElementById("pacing").disabled = event.target.value === "required";
});

// What is not saved yet says so; leaving asks first (fields.js).
for (const kind of ["input", "muster:dirty"]) {
  form.addEventListener(kind, () => { form.querySelector("[data-unsaved]").hidden = false; });
}

// The preview is for looking and trying: its links lead nowhere.
document.getElementById("preview-frame").addEventListener("click", (event) => {
  if (event.target.closest("a")) event.preventDefault();
});

settle();
