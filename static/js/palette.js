// The command palette: Ctrl-K (or ⌘K) opens it, arrows choose, Enter goes. Without script its link is a search page.
const box = document.getElementById("palette-box");
const input = document.getElementById("palette-input");
const results = document.getElementById("palette-results");
const said = document.getElementById("palette-said");

function open() {
  if (box.open) return;
  document.dispatchEvent(new Event("muster:over"));
  box.showModal();
  input.select();
  htmx.trigger(input, "palette-open");
}

function options() {
  return [...results.querySelectorAll('[role="option"]')];
}

function choose(option) {
  for (const other of options()) other.setAttribute("aria-selected", String(other === option));
  if (!option) return input.removeAttribute("aria-activedescendant");
  input.setAttribute("aria-activedescendant", option.id);
  option.scrollIntoView({ block: "nearest" });
}

function move(step) {
  const all = options();
  if (!all.length) return;
  const at = all.findIndex((option) => option.getAttribute("aria-selected") === "true");
  choose(all[(at + step + all.length) % all.length]);
}

if (box) {
  document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey && event.key.toLowerCase() === "k") {
      event.preventDefault();
      open();
    }
  });
  document.addEventListener("click", (event) => {
    if (!event.target.closest("[data-palette]") || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    open();
  });
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      move(event.key === "ArrowDown" ? 1 : -1);
    } else if (event.key === "Enter") {
      event.preventDefault();
      results.querySelector('[aria-selected="true"]')?.click();
    }
  });
  results.addEventListener("htmx:afterSwap", () => {
    choose(options()[0]);
    // Among results the chosen one is read aloud; where there is none, only this line is.
    said.textContent = results.querySelector(".palette-none")?.textContent ?? "";
  });
  results.addEventListener("click", (event) => { if (event.target.closest("a")) box.close(); });
}
