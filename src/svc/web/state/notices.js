// Keeps the short notices for the member, such as request errors. They disappear after a few seconds.

/** @import { Signal } from "../vendor/signals.js" */

import { signal } from "../vendor/signals.js";
import { explain } from "../words/words.js";

const SHOWN_MS = 8000;
const MAX_NOTICES = 4;

/**
 * The notices, [{id, text, kind}], oldest first. `kind` is "error" or "done".
 * @type {Signal<{id: number, text: string, kind: string}[]>}
 */
export const notices = signal([]);

let nextId = 1;

/** @param {string} text @param {"error" | "done"} [kind] */
export function notify(text, kind = "error") {
  const id = nextId++;
  notices.value = [...notices.value.filter((notice) => notice.text !== text), { id, text, kind }].slice(
    -MAX_NOTICES,
  );
  setTimeout(() => dismiss(id), SHOWN_MS);
}

/** @param {number} id */
export function dismiss(id) {
  notices.value = notices.value.filter((notice) => notice.id !== id);
}

/**
 * Await a request, and show the reason if it fails. Resolves with whether it succeeded.
 * @param {Promise<unknown>} promise
 */
export async function tryOrNotify(promise) {
  try {
    await promise;
    return true;
  } catch (error) {
    notify(explain(error));
    return false;
  }
}
