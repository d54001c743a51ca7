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
  settleConditions();
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

// Each field, but for the id, which is the question's own. The answers of a condition are drawn before they are ticked.
function copyFields(row, copy) {
  const named = (one) => one.name.slice(0, -row.dataset.row.length);
  const fields = [...row.querySelectorAll("input, textarea, select")].filter((one) => !["key-", "removed-"].includes(named(one)));
  for (const field of fields.filter((one) => one.name.endsWith(`-${row.dataset.row}`))) {
    const others = copy.querySelectorAll(`[name="${named(field)}${copy.dataset.row}"]`);
    if (named(field) === "values-") continue;
    for (const other of others) {
      if (named(field) === "show_if-" && field.value) other.append(new Option("", field.value));
      other.value = field.value;
      if (field.type === "checkbox") other.checked = field.checked;
    }
  }
  drawAnswers(copy, boxes(row), ticked(row));
  const more = (one) => one.querySelector(".question-more");
  more(copy).open = more(row).open;
}

// What a condition may ask about are the questions above with few answers; the server offers the same (editing/conditions.py).
const NUMBERED = { star_rating: [1, 5], nps: [0, 10] };
const CHOICES = ["scale", "single_choice", "multiple_choice"];
const boxes = (row) => [...row.querySelectorAll("[data-answers] input")].map((one) => one.value);
const ticked = (row) => [...row.querySelectorAll("[data-answers] input:checked")].map((one) => one.value);

function answersOf(row) {
  const type = part(row, "type").value;
  if (NUMBERED[type]) {
    const [least, most] = NUMBERED[type];
    return Array.from({ length: most - least + 1 }, (_, index) => String(least + index));
  }
  const lines = CHOICES.includes(type) ? part(row, "options").value.split("\n") : [];
  return [...new Set(lines.map((one) => one.trim().normalize("NFC")).filter(Boolean))];
}

const mayBeAsked = (row) => part(row, "type").value in NUMBERED || CHOICES.includes(part(row, "type").value);

function settleConditions() {
  const live = kept();
  live.forEach((row, index) => {
    drawAsked(row, live.slice(0, index));
    drawAnswers(row, boxes(row), ticked(row));
  });
}

function drawAsked(row, above) {
  const select = part(row, "asked");
  const chosen = select.value;
  const options = above.filter(mayBeAsked).map((one) => {
    const label = part(one, "text").value.trim().replace(/\s+/g, " ").slice(0, 60);
    return new Option(`Only if ${place(one)}. ${label}`.trim(), one.dataset.row);
  });
  if (chosen && !options.some((one) => one.value === chosen)) options.push(new Option("A question that is not above this one", chosen));
  select.replaceChildren(new Option("Always", ""), ...options);
  select.value = chosen;
}

// A box whose answer is gone stays until the form is saved, so that it can be unticked and ticked again.
function drawAnswers(row, had, values) {
  const box = part(row, "answers");
  const asked = kept().find((one) => one.dataset.row === part(row, "asked").value);
  part(row, "values").hidden = !part(row, "asked").value;
  const known = asked ? answersOf(asked) : [];
  const lost = had.filter((one) => !known.includes(one));
  const drawn = JSON.stringify([known, lost]);
  if (box.dataset.drawn === drawn) return;
  box.dataset.drawn = drawn;
  box.replaceChildren(...[...known, ...lost].map((text) => answerBox(row, text, values.includes(text), lost.includes(text))));
}

function answerBox(row, text, checked, lost) {
  const label = Object.assign(document.createElement("label"), { className: "form-check form-check-inline" });
  const input = Object.assign(document.createElement("input"), {
    className: "form-check-input", type: "checkbox", name: `values-${row.dataset.row}`, value: text, checked,
  });
  const words = Object.assign(document.createElement("span"), {
    className: "form-check-label", textContent: lost ? `${text} (no longer an answer)` : text,
  });
  label.append(input, words);
  return label;
}

// Another question has other answers, also where they read the same: ticks belong to the question that they were made for.
list.addEventListener("change", (event) => {
  const row = event.target.closest(".question");
  if (event.target.matches("[data-asked]")) {
    delete part(row, "answers").dataset.drawn;
    drawAnswers(row, [], []);
  }
  if (event.target.matches("[data-ready-made]")) fill(row, event.target);
  settleConditions();
});
list.addEventListener("input", (event) => {
  if (event.target.matches("[data-text], [data-options]")) settleConditions();
});

// Typed in, not set: so that the browser can undo it.
function fill(row, select) {
  const options = part(row, "options");
  const { lines } = select.selectedOptions[0].dataset;
  select.value = "";
  if (!lines) return;
  options.focus();
  options.select();
  if (!document.execCommand("insertText", false, lines)) options.value = lines;
  changed(`Options were filled in: ${lines.replaceAll("\n", ", ")}.`);
}

const acts = {
  up(row) { move(row, -1); },
  down(row) { move(row, 1); },
  duplicate(row) {
    const copy = made();
    row.after(copy);
    copyFields(row, copy);
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
