// Tracks whether Web Push is on, that is, whether the server notifies this device while no tab is visible.
// state/push_subscription.js manages the subscription.

/** @import { Signal } from "../vendor/signals.js" */

import { storedText } from "../transport/browser_storage.js";
import { signal } from "../vendor/signals.js";

// In localStorage while push is on: the endpoint that was sent to the server.
export const STORED_PUSH = "svc.push";

/**
 * The state of Web Push: "off", "on", "busy" while it changes, or the reason why push is unavailable:
 * "insecure" (requires https), "install" (requires installing the page), "unsupported", "refused" (by the
 * member or the browser), or "failed" (the browser's push service failed).
 * @type {Signal<"off" | "on" | "busy" | "insecure" | "install" | "unsupported" | "refused" | "failed">}
 */
export const push = signal("off");

/** Update `push`. The browser's permission can change at any time. */
export function lookAtPush() {
  if (push.value !== "busy") push.value = obstacle() ?? (storedText(STORED_PUSH) === null ? "off" : "on");
}

/** Return the reason why push is unavailable here, or null if it is available. */
export function obstacle() {
  if (!globalThis.isSecureContext) return "insecure";
  // On iPhones and iPads, only installed pages receive pushes.
  if (!globalThis.PushManager || !globalThis.Notification)
    return navigator.standalone === false ? "install" : "unsupported";
  return Notification.permission === "denied" ? "refused" : null;
}
