// The first picture: the first messages, or the view that the page shows instead of them. Files that this
// picture does not need are fetched after it, so that they do not share a slow connection with it.

import { listen } from "./server.js";

// Counted from the greeting. Messages may fail to arrive, and a hidden page is never drawn.
const MOST_WAIT_MS = 10_000;

/** @type {(nothing?: undefined) => void} */
let shown;

/** Resolves once the first picture is on the screen. @type {Promise<void>} */
export const firstPicture = new Promise((resolve) => {
  shown = resolve;
});

/** Report that the first picture will be drawn with the next frame. */
export const pictured = () => requestAnimationFrame(() => setTimeout(shown));

listen({
  greet() {
    setTimeout(shown, MOST_WAIT_MS);
  },
});
