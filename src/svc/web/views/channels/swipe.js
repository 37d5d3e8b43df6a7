// Handles swipes and long presses on a phone. A swipe in the reading direction closes the side panel or, if
// none is open, opens the channel list. A swipe in the opposite direction closes the channel list or, if it
// is closed, replies to the message under the finger. A long press opens the menu of the element under the
// finger, because iPhones send no event for long presses. Loaded once the first messages are shown.

import { openedPanel, closeSidePanel, drawer } from "../../state/navigation.js";
import { HANDHELD } from "../parts/menu.js";

const MIN_SWIPE_PX = 60;
const FARTHEST_PX = 76; // The maximum distance that a message follows the finger.
const HOLD_MS = 550; // Android reports a long press after 500 ms.
const STILL_PX = 10;

/**
 * The touch in progress, with the message under it. Null if the touch cannot become a swipe.
 * @type {{x: number, y: number, message: HTMLElement | null} | null}
 */
let from = null;

/**
 * The touch that may become a long press. `opened` means that the touch has opened a menu. `message` is the
 * touched message. It is null once the finger has moved, or if the touch is on a button.
 * @type {{timer: number, x: number, y: number, opened: boolean, message: HTMLElement | null}}
 */
let resting = { timer: 0, x: 0, y: 0, opened: false, message: null };

/**
 * The message that was touched last. Its buttons stay visible even when it is no longer under the finger,
 * which ends `:hover`.
 * @type {HTMLElement | null}
 */
let touched = null;

/** Start handling swipes and long presses. */
export function startSwipes() {
  const listen = { passive: true };
  document.addEventListener("touchstart", startPress, listen);
  document.addEventListener("touchmove", ({ changedTouches }) => stir(changedTouches[0]), listen);
  document.addEventListener("touchend", lift);
  document.addEventListener("touchcancel", stopResting, listen);
  document.addEventListener("contextmenu", reported, true);
  document.addEventListener("touchstart", begin, listen);
  document.addEventListener("touchmove", ({ changedTouches }) => pull(changedTouches[0]), listen);
  document.addEventListener("touchend", ({ changedTouches }) => end(changedTouches[0]), listen);
  document.addEventListener("touchcancel", release, listen);
}

/** @param {TouchEvent} event */
function begin({ touches, target }) {
  release();
  const element = /** @type {Element} */ (target);
  if (!HANDHELD.matches || touches.length !== 1 || !element.closest(".home") || movesItself(element)) return;
  /** @type {HTMLElement | null} */
  const message = drawer.value ? null : element.closest(".message");
  from = { x: touches[0].clientX, y: touches[0].clientY, message };
}

/**
 * Return the message's reply button, if any. Buttons are rendered only once a message has been touched.
 * @param {Element | null} message
 * @returns {HTMLElement | null | undefined}
 */
const replyTo = (message) => message?.querySelector(".actions [data-icon=reply]")?.closest("button");

/**
 * Return the length of the swipe in the reading direction, or 0 if the touch scrolls the page. @param {Touch}
 * touch
 */
function lengthOf({ clientX, clientY }) {
  if (!from || getSelection()?.isCollapsed === false) return 0;
  const along = (clientX - from.x) * (getComputedStyle(document.body).direction === "rtl" ? -1 : 1);
  return Math.abs(clientY - from.y) * 2 > Math.abs(along) ? 0 : along;
}

/** @param {Touch} touch */
function pull(touch) {
  if (!from?.message || !replyTo(from.message)) return;
  const back = Math.min(FARTHEST_PX, Math.max(0, -lengthOf(touch)));
  from.message.style.setProperty("--pulled", `${back}px`);
  from.message.classList.toggle("pulled", back > 8);
  from.message.classList.toggle("will-reply", back >= MIN_SWIPE_PX);
}

/** @param {Touch} touch */
function end(touch) {
  const [along, message] = [lengthOf(touch), from?.message ?? null];
  release();
  if (Math.abs(along) < MIN_SWIPE_PX) return;
  if (along > 0) {
    if (openedPanel.value) closeSidePanel();
    else drawer.value = true;
  } else if (drawer.value) drawer.value = false;
  else replyTo(message)?.click();
}

function release() {
  from?.message?.classList.remove("pulled", "will-reply");
  from = null;
}

/**
 * Return whether this element handles horizontal touch movements itself, as wide code, sliders and zoomed
 * screens do.
 * @param {Element} target
 */
function movesItself(target) {
  if (target.closest("input, textarea, audio, dialog, [popover], .zoomable")) return true;
  for (let at = /** @type {Element | null} */ (target); at; at = at.parentElement) {
    if (at.scrollWidth > at.clientWidth && ["auto", "scroll"].includes(getComputedStyle(at).overflowX))
      return true;
  }
  return false;
}

/** @param {TouchEvent} event */
function startPress({ touches, target }) {
  clearTimeout(resting.timer);
  const { clientX: x, clientY: y } = touches[0];
  resting = { timer: 0, x, y, opened: false, message: null };
  const element = /** @type {Element} */ (target);
  // A message's buttons must not disappear while they are being touched.
  if (!touched?.contains(element) || element.closest(".menu")) markTouched(null);
  if (touches.length > 1 || !element.closest(".home") || element.closest("input, textarea, a, .menu")) return;
  resting.message = element.closest("button") ? null : element.closest(".message");
  resting.timer = setTimeout(() => {
    const press = new MouseEvent("contextmenu", { bubbles: true, cancelable: true, clientX: x, clientY: y });
    resting.opened = !element.dispatchEvent(press);
    if (resting.opened) markTouched(null);
  }, HOLD_MS);
}

/** @param {Touch} touch */
function stir({ clientX, clientY }) {
  if (Math.hypot(clientX - resting.x, clientY - resting.y) > STILL_PX) stopResting();
}

function stopResting() {
  clearTimeout(resting.timer);
  resting.message = null;
}

/** @param {HTMLElement | null} message */
function markTouched(message) {
  delete touched?.dataset.touched;
  touched = message;
  if (message) message.dataset.touched = "";
}

/**
 * Handle the end of a touch. Lifting the finger after a long press must not click an item of the new menu.
 * @param {TouchEvent} event
 */
function lift(event) {
  clearTimeout(resting.timer);
  if (resting.opened && event.cancelable) event.preventDefault();
  if (!resting.opened && resting.message) markTouched(resting.message);
}

/**
 * Handle a long press that the browser reports. It must not open the menu a second time.
 * @param {Event} event
 */
function reported(event) {
  if (!event.isTrusted) return;
  clearTimeout(resting.timer);
  if (!resting.opened) return;
  event.preventDefault();
  event.stopPropagation();
}
