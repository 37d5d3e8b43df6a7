// Tooltips: the names of icon buttons, and the titles of all elements instead of the browser's late tooltips.
// Shown at once on hover and on keyboard focus. A screen reader has the name or the title already, so it does
// not read the tooltip. Touch shows no tooltip, and neither does focus on a phone.

import { hasSheets } from "./menu.js";

/** @type {HTMLElement | null} */
let tip = null;
/** The element whose name or title is shown. @type {HTMLElement | null} */
let named = null;
/**
 * The title of `named`, which the element lacks while the pointer is on it, so that the browser does not show
 * it as well. The focus leaves the title in place, because screen readers read it.
 */
let hidden = "";

/** @param {EventTarget | null} target @returns {HTMLElement | null} */
function namedAt(target) {
  /** @type {HTMLElement | null} */
  const found =
    target instanceof Element ? target.closest(".icon-button[aria-label], [title]:not(iframe)") : null;
  const isWithin = target instanceof Element && named?.contains(target);
  return isWithin && (!found || found.contains(named)) ? named : found;
}

/** @param {HTMLElement | null} element */
function show(element) {
  if (element === named) return;
  if (named && hidden) named.title ||= hidden;
  [named, hidden] = [element, ""];
  // An open menu explains more than its button's name, and the tooltip would cover it.
  const text = element?.ariaExpanded === "true" ? "" : element?.title || element?.ariaLabel;
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
  if (tip.matches(":popover-open")) tip.hidePopover(); // Show it again, above dialogs that have opened since.
  tip.showPopover();
  const [at, { offsetWidth: width, offsetHeight: height }] = [element.getBoundingClientRect(), tip];
  const middle = at.left + at.width / 2 - width / 2;
  // Below a row of a list, the tooltip would cover the next row.
  const aside = element.closest("nav") && at.right + 6 + width <= innerWidth;
  const below = at.bottom + 6 + height <= innerHeight;
  const top = aside ? at.top + at.height / 2 - height / 2 : below ? at.bottom + 6 : at.top - 6 - height;
  tip.style.left = `${aside ? at.right + 6 : Math.max(6, Math.min(middle, innerWidth - width - 6))}px`;
  tip.style.top = `${Math.max(6, top)}px`;
}

/** Show tooltips from now on. */
export function startTooltips() {
  const listen = { capture: true, passive: true };
  const hide = () => show(null);
  document.addEventListener(
    "pointerover",
    ({ target, pointerType }) => {
      show(pointerType === "mouse" ? namedAt(target) : null);
      if (!named?.title) return;
      hidden = named.title;
      named.removeAttribute("title");
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
}
