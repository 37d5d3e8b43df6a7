// Shows tooltips for the names of icon buttons and for titles, immediately on hover and on keyboard focus,
// instead of the browser's delayed tooltips. They are hidden from screen readers, which already read the name
// or title. Tooltips are not shown on touch, or on focus on a phone.

import { hasSheets } from "./menu.js";

/** @type {HTMLElement | null} */
let tip = null;
/** The element whose name or title is displayed. @type {HTMLElement | null} */
let shown = null;
/**
 * The title of `shown`. It is removed from the element while the pointer is over it, because the browser
 * would show it, too. On focus, it stays in place, because screen readers read it.
 */
let hidden = "";
/** The element under the mouse. @type {EventTarget | null} */
let pointed = null;

/** Return the nearest element with a name or title to show. @param {EventTarget | null} target */
function namedAt(target) {
  /** @type {HTMLElement | null} */
  const nearest =
    target instanceof Element ? target.closest(".icon-button[aria-label], [title]:not(iframe)") : null;
  const isWithin = target instanceof Element && shown?.contains(target);
  return isWithin && (!nearest || nearest.contains(shown)) ? shown : nearest;
}

/** @param {HTMLElement | null} element */
function show(element) {
  if (element === shown && !element?.title) return;
  if (shown && hidden) shown.title ||= hidden;
  [shown, hidden] = [element, ""];
  // Next to an open menu, its button's name is redundant, and the tooltip would cover the menu. A wide button
  // already shows its name.
  const isNamed = element?.querySelector(":scope > span")?.checkVisibility();
  const text = element?.ariaExpanded === "true" ? "" : element?.title || (isNamed ? "" : element?.ariaLabel);
  if (!element || !text) {
    tip?.hidePopover();
    return;
  }
  if (!tip) {
    tip = document.createElement("div");
    tip.className = "tooltip";
    tip.popover = "manual";
    tip.ariaHidden = "true";
    document.body.append(tip);
  }
  tip.textContent = text;
  if (tip.matches(":popover-open")) tip.hidePopover(); // Reopen it above more recent dialogs.
  tip.showPopover();
  const [at, { offsetWidth: width, offsetHeight: height }] = [element.getBoundingClientRect(), tip];
  const middle = at.left + at.width / 2 - width / 2;
  // Show the tooltip next to a row in a list, because it would cover the next row below.
  const isBeside = element.closest("nav") && at.right + 6 + width <= innerWidth;
  const below = at.bottom + 6 + height <= innerHeight;
  const top = isBeside ? at.top + at.height / 2 - height / 2 : below ? at.bottom + 6 : at.top - 6 - height;
  tip.style.left = `${isBeside ? at.right + 6 : Math.max(6, Math.min(middle, innerWidth - width - 6))}px`;
  tip.style.top = `${Math.max(6, top)}px`;
}

/** Show the name or title of the element under the mouse, and hide the title from the browser. */
function showPointed() {
  show(namedAt(pointed));
  if (!shown?.title) return;
  hidden = shown.title;
  shown.removeAttribute("title");
}

/** Start showing tooltips. */
export function startTooltips() {
  const listen = { capture: true, passive: true };
  const hide = () => {
    pointed = null;
    show(null);
  };
  document.addEventListener(
    "pointerover",
    ({ target, pointerType }) => {
      pointed = pointerType === "mouse" ? target : null;
      showPointed();
    },
    listen,
  );
  document.addEventListener(
    "focusin",
    ({ target }) => {
      const element = namedAt(target);
      show(element?.matches(":focus-visible") && !hasSheets() ? element : null);
    },
    listen,
  );
  document.addEventListener("keydown", ({ key }) => key === "Escape" && hide(), listen);
  for (const type of ["pointerdown", "focusout", "scroll"]) document.addEventListener(type, hide, listen);
  document.documentElement.addEventListener("pointerleave", hide);
  // Some titles change while the mouse is over their element, such as the names of members who reacted.
  new MutationObserver((changes) => {
    const isPointed = (/** @type {MutationRecord} */ { target: element }) =>
      pointed instanceof Node && element.contains(pointed) && element instanceof HTMLElement && element.title;
    if (changes.some(isPointed)) showPointed();
  }).observe(document, { attributes: true, attributeFilter: ["title"], subtree: true });
}
