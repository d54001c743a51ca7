// A menu of the sections of a long page: marks the one that stands at the top of the window. Without script it only leads there.
for (const menu of document.querySelectorAll("[data-sections]")) {
  const links = [...menu.querySelectorAll("a[href^='#']")];
  const seen = new Set();
  let parts = [];

  // The last section may be too short to come up to the top.
  function mark() {
    const atEnd = innerHeight + scrollY >= document.documentElement.scrollHeight - 2;
    const here = atEnd ? parts.length - 1 : parts.findIndex((part) => seen.has(part));
    if (here < 0) return;
    for (const [place, link] of links.entries()) {
      if (place === here) link.setAttribute("aria-current", "location");
      else link.removeAttribute("aria-current");
    }
  }

  const watch = new IntersectionObserver((entries) => {
    for (const entry of entries) entry.isIntersecting ? seen.add(entry.target) : seen.delete(entry.target);
    mark();
  }, { rootMargin: "-15% 0px -80% 0px" });

  // A section that was saved in its place is another one.
  function look() {
    watch.disconnect();
    seen.clear();
    parts = links.map((link) => document.getElementById(link.hash.slice(1))?.closest("section"));
    for (const part of parts) if (part) watch.observe(part);
  }
  document.body.addEventListener("htmx:load", look);
  addEventListener("scrollend", mark);
}
