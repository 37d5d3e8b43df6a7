// Implements keyboard navigation in message lists. Arrow keys move from message to message. Tab and Shift+Tab
// skip the content of messages, unless an arrow key has moved the focus to a message. Shift+Tab on a
// message's first button moves to the message itself.

import { html } from "../../vendor/preact.js";

/**
 * A focus target directly after a message list. Tab continues from it, and Shift+Tab passes through it to the
 * list.
 */
export const PastMessages = () => html`<span tabindex="0" onFocus=${arrived}></span>`;

/** @param {EventOn<HTMLElement, FocusEvent>} event */
function arrived({ currentTarget, relatedTarget }) {
  const box = boxBefore(currentTarget);
  if (!box.contains(/** @type {Node | null} */ (relatedTarget))) box.focus({ preventScroll: true });
}

/** @param {HTMLElement} past */
const boxBefore = (past) => /** @type {HTMLElement} */ (past.previousElementSibling);

/** Handle key presses in a message list. @param {EventOn<HTMLElement, KeyboardEvent>} event */
export function moveAmongMessages(event) {
  const { currentTarget: box, target, key, shiftKey } = event;
  const all = [...box.querySelectorAll(".message")];
  if (key === "Tab") {
    const past = /** @type {HTMLElement} */ (box.nextElementSibling);
    // After this handler, the browser moves the focus on from the focused element.
    if (shiftKey) forThisStep(box, target.closest(".message"), 0);
    else if (target === box && all.length) past.focus({ preventScroll: true });
    else forThisStep(box, past, -1);
    return;
  }
  if (target !== box && !target.classList.contains("message")) return;
  const at = all.indexOf(target);
  const to = { ArrowUp: at < 0 ? all.length - 1 : at - 1, ArrowDown: at + 1, Home: 0, End: all.length - 1 }[
    key
  ];
  if (to === undefined || !all[to]) return;
  event.preventDefault();
  all[to].focus();
  all[to].scrollIntoView({ block: "nearest" });
}

/**
 * Set whether Tab stops at this element until the focus has moved.
 * @param {HTMLElement} box
 * @param {HTMLElement | null} element
 * @param {0 | -1} tabIndex
 */
function forThisStep(box, element, tabIndex) {
  if (!element) return;
  element.tabIndex = tabIndex;
  box.addEventListener(
    "focusout",
    () => {
      element.tabIndex = -1 - tabIndex;
    },
    { once: true },
  );
}
