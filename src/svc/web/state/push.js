// Web Push: whether this device is rung while no page is in sight. state/push_subscription.js subscribes.

/** @import { Signal } from "../vendor/signals.js" */

import { kept } from "../transport/kept.js";
import { signal } from "../vendor/signals.js";
import { listen } from "./server.js";

export const KEPT_PUSH = "svc.push"; // In localStorage while it is wanted: the endpoint that the server was told.

/**
 * "off", "on", "busy" while that changes, or why it cannot be: "insecure" (needs https), "install" (only once the page
 * is installed), "unsupported", "refused" (by the person or the browser), "failed" (the browser's push service).
 * @type {Signal<"off" | "on" | "busy" | "insecure" | "install" | "unsupported" | "refused" | "failed">}
 */
export const push = signal("off");

/** See how things stand: permissions change while nobody looks. */
export function lookAtPush() {
  if (push.value !== "busy") push.value = obstacle() ?? (kept(KEPT_PUSH) === null ? "off" : "on");
}

/** Why there can be no push here, or null. */
export function obstacle() {
  if (!globalThis.isSecureContext) return "insecure";
  // On iPhones and iPads only installed pages are rung.
  if (!globalThis.PushManager || !globalThis.Notification) return navigator.standalone === false ? "install" : "unsupported";
  return Notification.permission === "denied" ? "refused" : null;
}

/** The code that changes the subscription. views/alerts/alerts.js fetches its file at the start, so it is here before it is wanted. */
const subscription = () => import("./push_subscription.js");

listen({
  greet() {
    lookAtPush();
    // The server may have a new key, and the browser a new address; what fails is tried at the next greeting.
    if (push.value === "on") subscription().then(({ renew }) => renew()).then((state) => { push.value = state; }, () => {});
  },
  forget() {
    subscription().then(({ drop }) => drop()).catch(() => {});
    push.value = "off";
  },
});
