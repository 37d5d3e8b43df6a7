// Signals the first paint: the first frame that shows messages, or the view that replaces them. Files that
// this frame does not need are fetched afterwards, so that they do not delay it on a slow connection.

import { listen } from "./server.js";

// The maximum wait after the greeting, because the messages may never arrive, and a hidden page is not
// rendered.
const MAX_WAIT_MS = 10_000;

/** @type {(nothing?: undefined) => void} */
let shown;

/** Resolves after the first paint. @type {Promise<void>} */
export const firstPaint = new Promise((resolve) => {
  shown = resolve;
});

/** Report that the next frame is the first paint. */
export const painted = () => requestAnimationFrame(() => setTimeout(shown));

listen({
  onGreeting() {
    setTimeout(shown, MAX_WAIT_MS);
  },
});
