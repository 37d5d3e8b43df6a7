// Web Push: whether the server rings this device while no page is visible. state/push_subscription.js
// subscribes.

/** @import { Signal } from "../vendor/signals.js" */

import { kept } from "../transport/browser_storage.js";
import { signal } from "../vendor/signals.js";
import { listen } from "./server.js";

export const KEPT_PUSH = "svc.push"; // In localStorage while push is on: the endpoint that the server knows.

/**
 * "off", "on", "busy" while that changes, or the reason why push is unavailable: "insecure" (needs https),
 * "install" (only in the installed page), "unsupported", "refused" (by the person or the browser), "failed"
 * (the browser's push service).
 * @type {Signal<"off" | "on" | "busy" | "insecure" | "install" | "unsupported" | "refused" | "failed">}
 */
export const push = signal("off");

/** Update the state: permissions can change at any time. */
export function lookAtPush() {
  if (push.value !== "busy") push.value = obstacle() ?? (kept(KEPT_PUSH) === null ? "off" : "on");
}

/** Return why push is unavailable here, or null. */
export function obstacle() {
  if (!globalThis.isSecureContext) return "insecure";
  // On iPhones and iPads only installed pages receive pushes.
  if (!globalThis.PushManager || !globalThis.Notification)
    return navigator.standalone === false ? "install" : "unsupported";
  return Notification.permission === "denied" ? "refused" : null;
}

/**
 * Load the code that changes the subscription. views/alerts/alerts.js fetches the file at the start, so it is
 * ready when needed.
 */
const subscription = () => import("./push_subscription.js");

listen({
  greet() {
    lookAtPush();
    // The server may have a new key, and the browser a new endpoint. After a failure, the next greeting tries
    // again.
    if (push.value === "on")
      subscription()
        .then(({ renew }) => renew())
        .then(
          (state) => {
            push.value = state;
          },
          () => {},
        );
  },
  forget() {
    subscription()
      .then(({ drop }) => drop())
      .catch(() => {});
    push.value = "off";
  },
});
