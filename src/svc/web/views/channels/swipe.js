// On a phone, a swipe in reading direction closes the panel over the channel, or else opens the list of
// channels. A swipe back closes the list.

import { aside, closeAside, drawer } from "../../state/navigation.js";

const LEAST_PX = 60;
const NARROW = matchMedia("(max-width: 640px)"); // As in style/home.css.

/** Where the finger was put down; null if the touch is not a swipe. @type {{x: number, y: number} | null} */
let from = null;

export const SWIPING = {
  onTouchStart: (/** @type {TouchEvent} */ { touches, target }) => {
    const { clientX: x, clientY: y } = touches[0];
    from =
      NARROW.matches && touches.length === 1 && !movesItself(/** @type {Element} */ (target))
        ? { x, y }
        : null;
  },
  onTouchEnd: (/** @type {TouchEvent} */ { changedTouches }) => {
    if (!from || getSelection()?.isCollapsed === false) return;
    const along =
      (changedTouches[0].clientX - from.x) * (getComputedStyle(document.body).direction === "rtl" ? -1 : 1);
    const isAcross = Math.abs(changedTouches[0].clientY - from.y) * 2 > Math.abs(along);
    from = null;
    if (isAcross || Math.abs(along) < LEAST_PX) return;
    if (along < 0) drawer.value = false;
    else if (aside.value) closeAside();
    else drawer.value = true;
  },
};

/**
 * Whether a finger can move this element sideways: wide code, a slider, a zoomed screen.
 * @param {Element} target
 */
function movesItself(target) {
  if (target.closest("input, textarea, audio, dialog, .zoomable")) return true;
  for (let at = /** @type {Element | null} */ (target); at; at = at.parentElement) {
    if (at.scrollWidth > at.clientWidth && ["auto", "scroll"].includes(getComputedStyle(at).overflowX))
      return true;
  }
  return false;
}
