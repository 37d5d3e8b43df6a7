// The results of a search. They are stored for the panel or dialog that shows them, so that Back from a
// result returns to the list.

/** @import { Open } from "../../state/navigation.js" */
/** @import { RefObject } from "../../vendor/preact.js" */

import { useLayoutEffect, useState } from "../../vendor/preact.js";

/**
 * The search of each panel or dialog that was left by following a result; `at` is the number of the result.
 * @type {WeakMap<Open, {search: any, at: number}>}
 */
const left = new WeakMap();

/**
 * Return the search that this panel or dialog was left with, if any, and a function to call when a result is
 * followed. The focus returns to that result, or goes to `field` if there is none.
 * @template T
 * @param {Open | null} opened
 * @param {RefObject<HTMLElement>} field
 * @param {RefObject<HTMLElement>} lines
 * @returns {[T | undefined, (search: T, at: number) => void]}
 */
export function useSearchResults(opened, field, lines) {
  const [before] = useState(opened && left.get(opened));
  useLayoutEffect(() => {
    const followed = before && lines.current.children[before.at]?.querySelector(":scope > .button");
    /** @type {HTMLElement} */ (followed ?? field.current).focus();
  }, []);
  return [before?.search, (search, at) => opened && left.set(opened, { search, at })];
}
