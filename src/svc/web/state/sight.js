// Whether the person has this page before their eyes: told to the server, which rings their other devices while
// they have none, and to the other tabs of this browser.

import { inTurn } from "../transport/kept.js";
import { effect, signal } from "../vendor/signals.js";
import { ask, connection } from "./server.js";

const LOCK = "svc.in-sight"; // Held by each tab that is in sight.

/** The view of the page says so. */
export const inSight = signal(false);

/** Is another tab of ours in sight? */
export async function seenElsewhere() {
  const { held = [] } = await navigator.locks.query().catch(() => /** @type {LockManagerSnapshot} */ ({}));
  return !inSight.value && held.some(({ name }) => name === LOCK);
}

/** @type {(value?: unknown) => void} */
let letGo = () => {};

effect(() => {
  letGo();
  if (!inSight.value) return;
  const held = new Promise((resolve) => { letGo = resolve; });
  inTurn(LOCK, () => held, { mode: "shared" });
});

// A new connection knows nothing of what was said on the one before.
effect(() => {
  const visible = inSight.value;
  if (connection.value === "online") ask("in_sight", { visible }).catch(() => {});
});
