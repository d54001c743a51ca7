// Search-as-you-type: [data-combo=URL] holds a plain id field; here it becomes hidden, and a search field stands before it.
document.body.addEventListener("htmx:load", (event) => {
  for (const combo of event.detail.elt.querySelectorAll("[data-combo]:not(.is-ready)")) enhance(combo);
});

function enhance(combo) {
  const field = combo.querySelector("input");
  const list = combo.querySelector('[role="listbox"]');
  const search = field.cloneNode();
  const hadFocus = document.activeElement === field;
  combo.classList.add("is-ready");
  search.removeAttribute("name");
  search.type = "text";
  search.value = field.dataset.text || field.value || field.dataset.lookFor || "";
  search.placeholder = field.dataset.placeholder;
  for (const [name, value] of Object.entries({ role: "combobox", "aria-expanded": "false", "aria-autocomplete": "list", "aria-controls": list.id })) search.setAttribute(name, value);
  field.type = "hidden";
  field.removeAttribute("id");
  field.removeAttribute("required");
  field.before(search);

  let timer;
  let asked = 0;
  const options = () => [...list.querySelectorAll("[data-value]")];
  const active = () => list.querySelector('[aria-selected="true"]');

  function toggle(open) {
    list.hidden = !open;
    search.setAttribute("aria-expanded", String(open));
    if (!open) search.removeAttribute("aria-activedescendant");
  }
  function mark(option) {
    for (const other of options()) other.setAttribute("aria-selected", String(other === option));
    // "No person found" is read aloud, too.
    const shown = option ?? list.querySelector(".combo-none");
    if (!shown) return;
    search.setAttribute("aria-activedescendant", shown.id);
    shown.scrollIntoView({ block: "nearest" });
  }
  function take(option) {
    field.value = option.dataset.value;
    search.value = option.dataset.label;
    search.setCustomValidity("");
    toggle(false);
    field.dispatchEvent(new Event("change", { bubbles: true }));
  }
  async function find() {
    const turn = ++asked;
    const address = new URL(combo.dataset.combo, location.href);
    address.searchParams.set("q", search.value.trim());
    const answer = await fetch(address, { headers: { "HX-Request": "true", "HX-Target": list.id } });
    if (turn !== asked || !answer.ok) return;
    list.innerHTML = await answer.text();
    [...list.children].forEach((one, n) => { one.id = `${list.id}-${n}`; });
    toggle(true);
    mark(options()[0]);
  }

  // The words in the field look like an answer: the refusal names them.
  function refuse() {
    const unchosen = search.value ? `Choose one from the list: “${search.value}” isn’t in it.` : "Choose one from the list.";
    search.setCustomValidity(search.value || search.required ? unchosen : "");
  }
  if (!field.value && search.value) refuse();

  search.addEventListener("input", () => {
    field.value = "";
    refuse();
    clearTimeout(timer);
    timer = setTimeout(find, 150);
  });
  // Words that were put there in advance are a question, not an answer: they are looked for as soon as one comes to the field.
  search.addEventListener("focus", () => {
    if (field.value || !field.dataset.lookFor || search.value !== field.dataset.lookFor) return;
    search.select();
    find();
  });
  search.addEventListener("keydown", (event) => {
    const all = options();
    const at = all.indexOf(active());
    if (event.key === "ArrowDown" && list.hidden) find();
    else if (event.key === "ArrowDown") mark(all[(at + 1) % all.length]);
    else if (event.key === "ArrowUp") mark(all[(at - 1 + all.length) % all.length]);
    else if (event.key === "Enter" && !list.hidden && active()) take(active());
    else if (event.key === "Escape" && !list.hidden) toggle(false);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  search.addEventListener("blur", () => setTimeout(() => toggle(false), 150));
  list.addEventListener("pointerdown", (event) => {
    event.preventDefault();
    const option = event.target.closest("[data-value]");
    if (option) take(option);
  });
  if (hadFocus) search.focus();
}
