// Makes room for an on-screen keyboard that covers the page. Most phones shrink the page for the keyboard, as
// index.html requests, but iPhones show the keyboard over the page and scroll the header out of view. While
// the keyboard is open, the root element has the class `under-keyboard`, and `--keyboard` is the height of
// the covered area (style/later/touch.css). Loaded once the first messages are shown.

const MIN_KEYBOARD_PX = 120; // Less is covered by the address bar or a hardware keyboard's toolbar.

/** Start making room for the keyboard. @param {VisualViewport | null} view */
export function startKeyboardSpace(view = window.visualViewport) {
  const root = document.documentElement;
  const fit = () => {
    const { height, scale } = /** @type {VisualViewport} */ (view);
    // The visible height also shrinks when the user zooms in.
    const covered = scale > 1.05 ? 0 : root.clientHeight - height;
    const isOpen = covered >= MIN_KEYBOARD_PX;
    root.classList.toggle("under-keyboard", isOpen);
    root.style.setProperty("--keyboard", isOpen ? `${Math.round(covered)}px` : "0px");
    // The field is now above the keyboard, so undo the browser's scrolling.
    if (isOpen) scrollTo(0, 0);
  };
  view?.addEventListener("resize", fit);
  view?.addEventListener("scroll", fit);
}
