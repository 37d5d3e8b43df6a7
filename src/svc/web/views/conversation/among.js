// Arrow keys go from message to message, and Tab goes past all that is in them: whoever wants into one enters it
// with an arrow key first.

/** What stands behind the messages of a box, for Tab to go on from. */
export const PAST = "past-messages";

/** The keys of a box of messages. @param {EventOn<HTMLElement, KeyboardEvent>} event */
export function moveAmongMessages(event) {
  const { currentTarget: box, target, key, shiftKey } = event;
  const all = [...box.querySelectorAll(".message")];
  if (target === box && key === "Tab" && !shiftKey && all.length) {
    // The browser goes on from what has the focus when this is over.
    box.querySelector(`.${PAST}`)?.focus({ preventScroll: true });
    return;
  }
  if (target !== box && !target.classList.contains("message")) return;
  const at = all.indexOf(target);
  const to = { ArrowUp: at < 0 ? all.length - 1 : at - 1, ArrowDown: at + 1, Home: 0, End: all.length - 1 }[key];
  if (to === undefined || !all[to]) return;
  event.preventDefault();
  all[to].focus();
  all[to].scrollIntoView({ block: "nearest" });
}
