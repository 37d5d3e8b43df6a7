// The folded categories of the channel list, kept in this browser only.

import { keep, keptLike } from "../../transport/browser_storage.js";
import { signal } from "../../vendor/signals.js";

const KEPT = "svc.folded";

/** Ids of categories. */
export const folded = signal(new Set(keptLike(/** @type {string[]} */ ([]), KEPT)));

/** @param {string} id */
export function toggleFolded(id) {
  const after = new Set(folded.value);
  if (!after.delete(id)) after.add(id);
  folded.value = after;
  keep(KEPT, [...after]);
}
