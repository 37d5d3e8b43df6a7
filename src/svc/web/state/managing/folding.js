// Which categories of the list are folded: kept in this browser only.

import { signal } from "../../vendor/signals.js";

const KEPT = "svc.folded";

/** Ids of categories. */
export const folded = signal(new Set(JSON.parse(localStorage.getItem(KEPT) ?? "[]")));

export function toggleFolded(id) {
  const after = new Set(folded.value);
  if (!after.delete(id)) after.add(id);
  folded.value = after;
  localStorage.setItem(KEPT, JSON.stringify([...after]));
}
