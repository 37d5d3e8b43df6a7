// Makes room for an on-screen keyboard that covers the page. Most phones shrink the page for the keyboard, as
// index.html requests, but iPhones place the keyboard over the page and scroll the page's header out of view.
// While the keyboard is open, the root element has the class `under-keyboard`, and `--keyboard` is the height
// that it covers (style/later/touch.css). Loaded after the first messages.

const MIN_KEYBOARD_PX = 120; // Less is the browser's address bar, or the bar of a hardware keyboard.

/** Make room from now on. @param {VisualViewport | null} view */
export function startKeyboardSpace(view = window.visualViewport) {
  const root = document.documentElement;
  const fit = () => {
    const { height, scale } = /** @type {VisualViewport} */ (view);
    // A page that is zoomed in also shows less than its full height.
    const covered = scale > 1.05 ? 0 : root.clientHeight - height;
    const isOpen = covered >= MIN_KEYBOARD_PX;
    root.classList.toggle("under-keyboard", isOpen);
    root.style.setProperty("--keyboard", isOpen ? `${Math.round(covered)}px` : "0px");
    // The field is above the keyboard now, so the page can move back down.
    if (isOpen) scrollTo(0, 0);
  };
  view?.addEventListener("resize", fit);
  view?.addEventListener("scroll", fit);
}
