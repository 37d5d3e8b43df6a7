// Tracks whether this tab is visible and whether it is idle, and reports both to the server. The server
// notifies the member's other devices only while all the member's tabs are hidden, and shows the member as
// idle when all of them are idle. Other tabs in this browser can also check whether this tab is visible.

import { withLock } from "../transport/browser_storage.js";
import { effect, signal } from "../vendor/signals.js";
import { ask, connection } from "./server.js";

const LOCK = "svc.in-sight"; // The name of the shared lock that every visible tab holds.

/** Whether this tab is visible. Set by the page's view. */
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

// Report again on each new connection, because the server forgets what the previous connection reported.
effect(() => {
  const visible = pageVisible.value;
  if (connection.value === "online") ask("in_sight", { visible }).catch(() => {});
});

/** Whether this tab is idle. Set by the page's view. */
export const idle = signal(false);

let reported = false; // Whether we have been reported as idle over this connection.

effect(() => {
  const now = idle.value;
  if (connection.value !== "online") reported = false;
  else if (now !== reported) {
    reported = now;
    ask("idle", { idle: now }).catch(() => {});
  }
});
