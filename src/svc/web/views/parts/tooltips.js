// The names of icon buttons, shown at once on hover and on keyboard focus. A screen reader already has the
// name, so it does not read the tooltip. Touch shows no tooltip, and neither does focus on a phone.

import { hasSheets } from "./menu.js";

/** @type {HTMLElement | null} */
let tip = null;
/** The button whose name is shown. @type {Element | null} */
let named = null;

/** @param {EventTarget | null} target */
const buttonOf = (target) => (target instanceof Element ? target.closest(".icon-button[aria-label]") : null);

/** @param {Element | null} button */
function show(button) {
  if (button === named) return;
  named = button;
  // An open menu explains more than its button's name, and the tooltip would cover it.
  const text = button?.ariaExpanded === "true" ? "" : button?.ariaLabel;
  if (!button || !text) {
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
  const [at, { offsetWidth: width, offsetHeight: height }] = [button.getBoundingClientRect(), tip];
  const left = at.left + at.width / 2 - width / 2;
  const below = at.bottom + 6 + height <= innerHeight;
  tip.style.left = `${Math.max(6, Math.min(left, innerWidth - width - 6))}px`;
  tip.style.top = `${below ? at.bottom + 6 : at.top - 6 - height}px`;
}

/** Show tooltips from now on. */
export function startTooltips() {
  const listen = { capture: true, passive: true };
  const hide = () => show(null);
  document.addEventListener(
    "pointerover",
    ({ target, pointerType }) => show(pointerType === "mouse" ? buttonOf(target) : null),
    listen,
  );
  document.addEventListener(
    "focusin",
    ({ target }) => {
      const button = buttonOf(target);
      show(button?.matches(":focus-visible") && !hasSheets() ? button : null);
    },
    listen,
  );
  document.addEventListener("keydown", ({ key }) => key === "Escape" && hide(), listen);
  for (const type of ["pointerdown", "focusout", "scroll"]) document.addEventListener(type, hide, listen);
  document.documentElement.addEventListener("pointerleave", hide);
}
