"""Contrast on one page after the other: axe-core measures each look of a word once.
Words that look alike have the same contrast."""

from dataclasses import dataclass, field
from typing import NewType

from playwright.sync_api import Page

from tests.chromium import COLOURS, CONTRAST, bring_axe

Look = NewType("Look", int)

# A look is what contrast depends on: the colours of a word and its size, weight and marks, and all that is painted
# behind it. What has a place of its own may lie on something else than what holds it, so its class belongs to the look.
# A link beside words is always asked about, since another rule compares it with these words. A look is known once
# axe-core could tell: it passes over what is hidden, disabled, covered, or no word.
_MEASURE = """async ([known, rules, passed]) => {
  const seen = new Set(known), looks = new Map(), names = new Map();
  const hash = text => { let sum = 7; for (const sign of text) sum = Math.imul(sum, 31) + sign.codePointAt() | 0; return sum; };
  const look = one => {
    if (!one) return 0;
    if (!looks.has(one)) {
      const style = getComputedStyle(one), around = one.parentElement && getComputedStyle(one.parentElement);
      const own = [
        style.backgroundColor === "rgba(0, 0, 0, 0)" ? "" : style.backgroundColor,
        style.backgroundImage === "none" ? "" : style.backgroundImage,
        style.opacity === "1" ? "" : style.opacity,
        style.filter === "none" ? "" : style.filter,
        style.mixBlendMode === "normal" ? "" : style.mixBlendMode,
        style.textShadow === "none" ? "" : style.textShadow,
        style.position === "static" ? "" : `${style.position} ${one.className}`,
        style.color === around?.color ? "" : style.color,
      ].join("");
      looks.set(one, own ? hash(`${look(one.parentElement)} ${own}`) : look(one.parentElement));
    }
    return looks.get(one);
  };
  const hasWords = one => /^(input|select|textarea)$/.test(one.localName)
    || [...one.childNodes].some(part => part.nodeType === Node.TEXT_NODE && part.data.trim());
  const isBesideWords = one => one.localName === "a" && one.parentElement.textContent.trim() !== one.textContent.trim();
  const fresh = [...document.body.querySelectorAll("*")].filter(one => {
    if (!hasWords(one)) return false;
    const style = getComputedStyle(one);
    names.set(one, hash([look(one), style.fontSize, style.fontWeight, style.textDecorationLine, style.display].join()));
    return rules.length > 1 && isBesideWords(one) || !seen.has(names.get(one));
  });
  if (!fresh.length) return [[], []];
  const found = await axe.run({include: fresh}, {
    runOnly: {type: "rule", values: rules}, resultTypes: ["violations", "passes"], preload: false, elementRef: true, selectors: false,
  });
  return [
    found.violations.flatMap(rule => rule.nodes.map(node => `${rule.id}: ${node.html.slice(0, 160)}`)),
    found.passes.filter(rule => rule.id === passed).flatMap(rule => rule.nodes.map(node => names.get(node.element)))
      .filter(name => name !== undefined),
  ];
}"""


@dataclass
class Known:
    """The looks that axe-core has measured on pages before, in each kind of colours."""

    light: set[Look] = field(default_factory=set)
    dark: set[Look] = field(default_factory=set)
    forced: set[Look] = field(default_factory=set)


def violations_of_new_looks(page: Page, known: set[Look], rules: list[str] = COLOURS) -> list[str]:
    """As `violations` for rules about colours, of all looks but those `known`; those that are well become known."""
    bring_axe(page)
    faults, measured = page.evaluate(_MEASURE, [sorted(known), rules, CONTRAST[0]])
    known.update(measured)
    return [str(fault) for fault in faults]
