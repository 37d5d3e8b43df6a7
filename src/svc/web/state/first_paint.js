// The first paint: the first frame that shows messages, or a view in their place. Files that it does not need
// are fetched afterwards, so that they do not compete with it on a slow connection.

import { listen } from "./server.js";

// The maximum wait after the greeting. The messages may not arrive, and a hidden page is not rendered.
const MAX_WAIT_MS = 10_000;

/** @type {(nothing?: undefined) => void} */
let shown;

/** Resolves once the first paint is on the screen. @type {Promise<void>} */
export const firstPaint = new Promise((resolve) => {
  shown = resolve;
});

/** Report that the first paint will be rendered with the next frame. */
export const painted = () => requestAnimationFrame(() => setTimeout(shown));

listen({
  onGreeting() {
    setTimeout(shown, MAX_WAIT_MS);
  },
});
