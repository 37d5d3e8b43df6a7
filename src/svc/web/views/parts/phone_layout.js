// Whether the page has the layout for a phone: one column, the channels in a drawer, menus as sheets. The
// style sheets use the class `handheld` on the root element.

/**
 * A phone in portrait or landscape mode, or an equally narrow window. A tablet with its on-screen keyboard is
 * wider.
 */
export const HANDHELD = matchMedia(
  "(max-width: 640px), (pointer: coarse) and (max-width: 960px) and (max-height: 480px)",
);
const COARSE = matchMedia("(pointer: coarse)");

/** Return whether menus are sheets, as in style/later/touch.css. */
export const hasSheets = () => HANDHELD.matches && COARSE.matches;

const mark = () => document.documentElement.classList.toggle("handheld", HANDHELD.matches);
HANDHELD.addEventListener("change", mark);
mark();
