// Tracks whether this page is visible and whether it is idle, and reports both to the server. The server
// notifies the member's other devices only while all their pages are hidden, and shows the member as idle
// when all are idle. Other tabs in this browser use the visibility too.

import { withLock } from "../transport/browser_storage.js";
import { effect, signal } from "../vendor/signals.js";
import { ask, connection } from "./server.js";

const LOCK = "svc.in-sight"; // The name of a lock that each visible tab holds.

/** Whether this page is visible. The page's view sets this signal. */
export const pageVisible = signal(false);

/** Return whether another of our tabs is visible. */
export async function isVisibleElsewhere() {
  const { held = [] } = await navigator.locks.query().catch(() => /** @type {LockManagerSnapshot} */ ({}));
  return !pageVisible.value && held.some(({ name }) => name === LOCK);
}

/** @type {(value?: unknown) => void} */
let releaseLock = () => {};

effect(() => {
  releaseLock();
  if (!pageVisible.value) return;
  const held = new Promise((resolve) => {
    releaseLock = resolve;
  });
  withLock(LOCK, () => held, { mode: "shared" });
});

// A new connection does not know the state reported on the previous one.
effect(() => {
  const visible = pageVisible.value;
  if (connection.value === "online") ask("in_sight", { visible }).catch(() => {});
});

/** Whether the page is idle. The page's view sets this signal. */
export const idle = signal(false);

let reported = false; // Whether this connection has reported that we are idle.

effect(() => {
  const now = idle.value;
  if (connection.value !== "online") reported = false;
  else if (now !== reported) {
    reported = now;
    ask("idle", { idle: now }).catch(() => {});
  }
});
