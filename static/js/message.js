// A survey's message with a toolbar: an editable text over the plain field. The field is what is sent, and it changes only when
// somebody edits: a message that was not touched keeps its bytes. Markup that a message may not have never gets in.
const ALLOWED = ["p", "br", "strong", "em", "u", "s", "ul", "ol", "li", "blockquote", "h3", "h4", "a", "code"];
const ALIKE = {
  B: "strong", I: "em", DEL: "s", STRIKE: "s", INS: "u", DIV: "p", H1: "h3", H2: "h3", H5: "h4", H6: "h4", PRE: "code",
};
const BLOCKS = new Set(["P", "UL", "OL", "LI", "BLOCKQUOTE", "H3", "H4"]);
const INLINE = { B: "strong", I: "em", STRONG: "strong", EM: "em", U: "u", S: "s", CODE: "code" };
// The policy of the page refuses these aloud wherever they are parsed, so they go before; DOMPurify would take them away too.
const REFUSED = /\s(?:style|on\w+)\s*=\s*(?:"[^"]*"|'[^']*'|[^\s>]+)/gi;
const TAG = /<[a-z](?:"[^"]*"|'[^']*'|[^>"'])*>/gi;
const SHEET = /<style[\s>][\s\S]*?<\/style>/gi;
const STYLE = /\sstyle\s*=\s*(?:"([^"]*)"|'([^']*)')/i;
// What word processors say by styles alone.
const HINTS = {
  bold: /font-weight:\s*(?:bold|[6-9]00)/i, light: /font-weight:\s*(?:normal|400)/i, italic: /font-style:\s*italic/i,
  item: /mso-list:\s*l\d/i, marker: /mso-list:\s*ignore/i,
};
const UNWRAPPED = ["span", "table", "thead", "tbody", "tfoot", "tr", "td", "th"];
const ADDRESS = /^(?:https?:\/\/|mailto:)\S+$/i;

function rich(place) {
  const field = document.getElementById(place.dataset.rich);
  field.before(place.querySelector("template").content.cloneNode(true));
  const [bar, linking, text] = [".rich-bar", ".rich-link", ".rich-text"].map((part) => place.querySelector(part));
  const label = place.querySelector(`label[for="${field.id}"]`);
  label.id = `${field.id}-label`;
  text.setAttribute("aria-labelledby", label.id);
  if (field.getAttribute("aria-describedby")) text.setAttribute("aria-describedby", field.getAttribute("aria-describedby"));
  if (field.getAttribute("aria-invalid")) text.setAttribute("aria-invalid", "true");
  text.classList.toggle("is-invalid", field.classList.contains("is-invalid"));
  const editor = new Squire(text, { blockTag: "P", sanitizeToDOMFragment: clean, addLinks: false });
  const buttons = [...bar.querySelectorAll("button")];
  const plain = () => bar.classList.contains("is-source");

  const told = () => [...text.childNodes].map(written).filter((one) => one && one !== "<br>").join("\n");
  let begun = null;
  function show() {
    editor.setHTML(/<(?:p|ul|ol|blockquote|h3|h4)[\s>]/i.test(field.value) ? field.value : paragraphs(field.value));
    begun = { value: field.value, told: told() };
  }
  // Squire also tells of attributes, which extensions of the browser set: without other words the field keeps its bytes.
  function write() {
    const now = told();
    const value = now === begun.told ? begun.value : now;
    if (value === field.value) return;
    field.value = value;
    field.dispatchEvent(new Event("input", { bubbles: true }));
  }
  function source(on) {
    bar.classList.toggle("is-source", on);
    field.hidden = !on;
    text.hidden = on;
    linking.hidden = true;
    for (const one of buttons) {
      if (one.dataset.richAct !== "source") one.disabled = on;
      else one.setAttribute("aria-pressed", String(on));
    }
  }
  function state() {
    for (const one of buttons) {
      const tag = one.dataset.richAct;
      if (tag === tag.toUpperCase()) one.setAttribute("aria-pressed", String(editor.hasFormat(tag)));
    }
  }
  function openLink() {
    const at = editor.getSelection().commonAncestorContainer;
    const link = (at.nodeType === Node.ELEMENT_NODE ? at : at.parentElement).closest("a");
    linking.hidden = false;
    linking.querySelector("input").value = link?.getAttribute("href") ?? "";
    linking.querySelector('[data-rich-act="unlink"]').hidden = !link;
    refuse(false);
    linking.querySelector("input").focus();
  }
  function refuse(wrong) {
    linking.querySelector("[role=alert]").hidden = !wrong;
    linking.querySelector("input").toggleAttribute("aria-invalid", wrong);
  }
  function setLink() {
    const address = linking.querySelector("input").value.trim();
    if (!ADDRESS.test(address)) {
      refuse(true);
      linking.querySelector("input").focus();
      return;
    }
    linking.hidden = true;
    editor.makeLink(address).focus();
  }
  const toggle = (tag) => editor.changeFormat(...(editor.hasFormat(tag) ? [null, { tag }] : [{ tag }]));
  const acts = {
    B: toggle, I: toggle, U: toggle, S: toggle, CODE: toggle,
    H3: (tag) => heading(editor, tag), H4: (tag) => heading(editor, tag),
    UL: (tag) => (editor.hasFormat(tag) ? editor.removeList() : editor.makeUnorderedList()),
    OL: (tag) => (editor.hasFormat(tag) ? editor.removeList() : editor.makeOrderedList()),
    BLOCKQUOTE: (tag) => (editor.hasFormat(tag) ? editor.decreaseQuoteLevel() : editor.increaseQuoteLevel()),
    plain: () => editor.removeAllFormatting(), undo: () => editor.undo(), redo: () => editor.redo(),
  };

  place.addEventListener("click", (event) => {
    const act = event.target.closest("[data-rich-act]")?.dataset.richAct;
    if (act === "source") {
      if (plain()) show();
      source(!plain());
      (plain() ? field : text).focus();
    } else if (act === "A") openLink();
    else if (act === "link") setLink();
    else if (act === "unlink") {
      linking.hidden = true;
      editor.removeLink().focus();
    } else if (act) {
      acts[act](act);
      editor.focus();
      state();
    }
  });
  linking.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.target.matches("input")) {
      event.preventDefault();
      setLink();
    } else if (event.key === "Escape") {
      linking.hidden = true;
      editor.focus();
    }
  });
  label.addEventListener("click", () => (plain() ? field : text).focus());
  // The links of the summary of errors lead to the field; while it is hidden the text takes its place.
  addEventListener("hashchange", () => location.hash === `#${field.id}` && !plain() && text.focus());
  document.addEventListener("click", (event) => {
    if (event.target.closest(`a[href="#${field.id}"]`) && !plain()) text.focus();
  });
  editor.addEventListener("input", write);
  for (const moment of ["pathChange", "select", "cursor", "input"]) editor.addEventListener(moment, state);
  editor.addEventListener("undoStateChange", (event) => {
    for (const [act, can] of [["undo", event.detail.canUndo], ["redo", event.detail.canRedo]]) {
      bar.querySelector(`[data-rich-act="${act}"]`).disabled = !can;
    }
  });
  roving(bar, buttons);
  show();
  source(false);
  for (const act of ["undo", "redo"]) bar.querySelector(`[data-rich-act="${act}"]`).disabled = true;
}

// One stop of the Tab key for the whole toolbar; arrows, Home and End go from button to button.
function roving(bar, buttons) {
  const stop = (at) => buttons.forEach((one) => one.setAttribute("tabindex", one === at ? "0" : "-1"));
  stop(buttons[0]);
  bar.addEventListener("focusin", (event) => stop(event.target));
  bar.addEventListener("keydown", (event) => {
    const open = buttons.filter((one) => !one.disabled);
    const at = open.indexOf(event.target);
    const next = { ArrowRight: at + 1, ArrowLeft: at - 1 + open.length, Home: 0, End: open.length - 1 }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    open[next % open.length].focus();
  });
}

function heading(editor, tag) {
  const wanted = editor.hasFormat(tag) ? "p" : tag;
  editor.modifyBlocks((part) => {
    for (const block of part.querySelectorAll("p, h3, h4")) renamed(block, wanted);
    return part;
  });
}

// Pasted or loaded markup: other names become ours, everything else that a message may not have goes.
function clean(html) {
  const part = DOMPurify.sanitize(html.replace(SHEET, "").replace(TAG, hinted), {
    ALLOWED_TAGS: [...ALLOWED, ...UNWRAPPED, ...Object.keys(ALIKE).map((name) => name.toLowerCase())],
    ALLOWED_ATTR: ["href", "title"],
    ALLOWED_URI_REGEXP: ADDRESS,
    RETURN_DOM_FRAGMENT: true,
  });
  fromWordProcessor(part);
  for (const [name, ours] of Object.entries(ALIKE)) {
    for (const one of part.querySelectorAll(name)) renamed(one, ours);
  }
  return document.importNode(part, true);
}

// The tag without styles and handlers, and with the hints of its style.
function hinted(tag) {
  const [, double, single] = STYLE.exec(tag) ?? [];
  const found = Object.keys(HINTS).filter((name) => HINTS[name].test(double ?? single ?? ""));
  const bare = tag.replace(REFUSED, "");
  return found.length ? bare.replace(/^<[^\s/>]+/, `$& data-hint="${found.join(" ")}"`) : bare;
}

// Google Docs wraps everything in a <b> that is not bold; Word's lists are paragraphs that begin with a bullet.
function fromWordProcessor(part) {
  const hints = (name, tag = "") => part.querySelectorAll(`${tag}[data-hint~="${name}"]`);
  for (const one of hints("light", "b")) unwrapped(one);
  for (const one of hints("italic", "span")) wrapped(one, "em");
  for (const one of hints("bold", "span")) wrapped(one, "strong");
  for (const one of hints("item", "p")) listed(one);
  for (const one of part.querySelectorAll("tr")) joined(one);
  for (const one of part.querySelectorAll(UNWRAPPED.join(","))) unwrapped(one);
  for (const one of part.querySelectorAll("li > p:only-child")) unwrapped(one);
}

function listed(item) {
  const marker = item.querySelector('[data-hint~="marker"]');
  const name = /^\s*(?:\d+|[a-z])[.)]/i.test(marker?.textContent ?? "") ? "ol" : "ul";
  marker?.remove();
  let list = item.previousElementSibling;
  if (list?.dataset.hint !== "list" || list.localName !== name) {
    list = item.ownerDocument.createElement(name);
    list.dataset.hint = "list";
    item.before(list);
  }
  list.append(item);
  renamed(item, "li");
}

// A row of a table as a paragraph: a message has no tables.
function joined(row) {
  const line = row.ownerDocument.createElement("p");
  for (const cell of row.querySelectorAll("td, th")) {
    for (const one of cell.querySelectorAll("p")) unwrapped(one);
    line.append(...(line.hasChildNodes() ? [" | "] : []), ...cell.childNodes);
  }
  row.replaceWith(line);
}

function wrapped(one, name) {
  const inner = one.ownerDocument.createElement(name);
  inner.append(...one.childNodes);
  one.append(inner);
}

const unwrapped = (one) => one.replaceWith(...one.childNodes);

function renamed(one, name) {
  const other = one.ownerDocument.createElement(name);
  other.append(...one.childNodes);
  one.replaceWith(other);
}

function paragraphs(message) {
  const parts = message.split(/\n[ \t]*\n\s*/).filter((one) => one.trim());
  return parts.map((one) => `<p>${one.replaceAll("\n", "<br>")}</p>`).join("");
}

// Markup as a message is stored: a block a line, empty blocks left out.
function written(node) {
  if (node.nodeType === Node.TEXT_NODE) return escaped(node.data.replaceAll("\u200b", ""));
  if (node.nodeType !== Node.ELEMENT_NODE) return "";
  if (node.nodeName === "BR") return "<br>";
  const inner = [...node.childNodes].map(written).join("");
  if (BLOCKS.has(node.nodeName)) {
    const kept = inner.replace(/(?:<br>)+$/, "");
    const name = node.nodeName.toLowerCase();
    return kept.trim() ? `<${name}>${kept}</${name}>` : "";
  }
  if (!inner) return "";
  if (node.nodeName === "A") return `<a href="${quoted(node.getAttribute("href") ?? "")}"${titled(node)}>${inner}</a>`;
  const name = INLINE[node.nodeName];
  return name ? `<${name}>${inner}</${name}>` : inner;
}

const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
const quoted = (text) => escaped(text).replaceAll('"', "&quot;");
const titled = (link) => (link.title ? ` title="${quoted(link.title)}"` : "");

for (const place of document.querySelectorAll("[data-rich]")) rich(place);
