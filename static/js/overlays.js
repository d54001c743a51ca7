// The drawer and the dialog: a link with data-drawer or data-dialog shows its address there. Without script it is a page.
const boxes = {
  drawer: document.getElementById("drawer-box"),
  dialog: document.getElementById("dialog-box"),
};

// What stands in the page's own lines was read aloud, and would be again as the page comes back from under a box.
document.addEventListener("muster:over", () => {
  for (const line of document.querySelectorAll("#aloud, #prompt-arrived")) line.textContent = "";
  for (const note of document.querySelectorAll("main .alert[role]:not([hidden])")) note.removeAttribute("role");
});

const STAY_MS = 100;
// What a small form is there to change: one types over it at once.
const EDITED = ".edit-again input:not([type=hidden])";

function show(name) {
  const box = boxes[name];
  if (!box) return;
  describe(box);
  const start = box.querySelector("[autofocus]") || box.querySelector("[data-focus]") || box.querySelector(EDITED);
  if (!box.open) open(box, start ?? box.querySelector("[data-stay]"));
  start?.focus();
  if (start?.matches(EDITED)) start.select();
}

// The focus goes there at once: of a button on its way a screen reader would read the name, and of a question all of it.
function open(box, start) {
  const had = start.hasAttribute("autofocus");
  start.autofocus = true;
  document.dispatchEvent(new Event("muster:over"));
  box.showModal();
  start.autofocus = had;
}

// What a screen reader says of a box as it opens: its title, and of a question also what it asks.
function describe(box) {
  const title = box.querySelector("h1, h2");
  if (title) box.setAttribute("aria-label", title.textContent.trim());
  const asked = [...box.querySelectorAll("form.confirm > :is(.confirm-number, .confirm-text)")];
  asked.forEach((one, n) => { one.id ||= `${box.id}-asked-${n}`; });
  const told = asked.map((one) => one.id).join(" ");
  if (box === boxes.dialog) {
    box.setAttribute("role", told ? "alertdialog" : "dialog");
    box.setAttribute("aria-describedby", told);
  } else if (told && !title.hasAttribute("aria-describedby")) {
    // A question in the drawer opens no box.
    title.setAttribute("aria-describedby", told);
    const words = [title, ...asked].map((one) => one.textContent.trim()).join(" ");
    setTimeout(() => { box.querySelector("[data-aloud]").textContent = words; }, 2 * STAY_MS);
  }
}
boxes.drawer?.addEventListener("close", () => { boxes.drawer.querySelector("[data-aloud]").textContent = ""; });

// What has the focus is about to be replaced. A screen reader passes over a focus that comes from what is gone: it leads there over a
// place that stays, and is there a moment before.
const STAY = "dialog[open] > [data-stay]";
document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  const stay = detail.target.closest?.("dialog[open]")?.querySelector(STAY);
  if (!stay || !detail.shouldSwap || detail.swapOverride === "none" || !detail.target.contains(document.activeElement)) return;
  const { elt } = detail.requestConfig;
  const swap = detail.swapOverride ?? elt.closest("[hx-swap]")?.getAttribute("hx-swap") ?? "innerHTML";
  stay.focus({ preventScroll: true });
  detail.swapOverride = `${swap} swap:${STAY_MS}ms`;
});

function close() {
  for (const box of Object.values(boxes)) if (box?.open) box.close();
}

function kind(link) {
  return link.hasAttribute("data-drawer") ? "drawer" : "dialog";
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-drawer], a[data-dialog]");
  const plain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
  if (link && plain && boxes[kind(link)] && window.htmx) {
    event.preventDefault();
    htmx.ajax("GET", link.getAttribute("href"), { source: link, target: `#${kind(link)}`, swap: "innerHTML" });
    return;
  }
  if (event.target.closest("dialog[open] [data-close]")) {
    event.preventDefault();
    event.target.closest("dialog").close();
  }
});

// A press outside the box closes it as Escape does; one that began inside (selecting text) does not.
document.addEventListener("pointerdown", (event) => {
  if (!(event.target instanceof HTMLDialogElement) || !event.target.open) return;
  const box = event.target.getBoundingClientRect();
  const inside = event.clientX >= box.left && event.clientX <= box.right && event.clientY >= box.top && event.clientY <= box.bottom;
  if (!inside && event.target.dispatchEvent(new Event("cancel", { cancelable: true }))) event.target.close();
});

document.body.addEventListener("htmx:beforeRequest", (event) => {
  const name = event.detail.target?.id;
  if (name === "drawer" && !boxes.drawer.open) {
    event.detail.target.replaceChildren();
    boxes.drawer.classList.add("is-loading");
    show("drawer");
  }
});
document.body.addEventListener("htmx:afterRequest", (event) => {
  if (event.detail.target?.id !== "drawer") return;
  boxes.drawer.classList.remove("is-loading");
  if (event.detail.failed && !event.detail.target.childElementCount) boxes.drawer.close();
});
document.body.addEventListener("htmx:afterSwap", (event) => {
  const name = event.detail.target?.id;
  if (name === "drawer" || name === "dialog") show(name);
});
// What an act did stands at the top of the drawer (live events have no request). After a form further down is saved, one continues there.
document.body.addEventListener("htmx:afterSwap", (event) => {
  const { target, xhr, requestConfig } = event.detail;
  const changed = (xhr?.getResponseHeader("HX-Trigger") ?? "").includes("muster:changed");
  if (changed && target.matches(".drawer-page") && !requestConfig.elt.matches("[data-guard]")) boxes.drawer.scrollTop = 0;
});
// An act may take away the button that had the focus: in an open box that goes to what is wrong, or else to the title.
document.body.addEventListener("htmx:afterSettle", () => {
  const box = [...document.querySelectorAll("dialog[open]")].at(-1);
  if (!box) return;
  if (Object.values(boxes).includes(box)) describe(box);
  if (box.contains(document.activeElement) && !document.activeElement.matches(STAY)) return;
  (box.querySelector(".error-summary") ?? box.querySelector("[data-focus]"))?.focus({ preventScroll: true });
});
// The server ends an act with `HX-Trigger: muster:close, muster:changed`: the box closes, lists fetch their rows again.
document.body.addEventListener("muster:close", close);
