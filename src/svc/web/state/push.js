// Web Push: whether this device is rung while no page is in sight, subscribed with the browser and told to the
// server, and renewed when either has lost it.

/** @import { Body } from "../types/wire.js" */

/** @import { Signal } from "../vendor/signals.js" */

import { keep, kept } from "../transport/kept.js";
import { running, teach } from "../transport/worker.js";
import { signal } from "../vendor/signals.js";
import { t } from "../words/words.js";
import { api, listen } from "./server.js";

const KEPT = "svc.push"; // In localStorage while it is wanted: the endpoint that the server was told.

/**
 * "off", "on", "busy" while that changes, or why it cannot be: "insecure" (needs https), "install" (only once the page
 * is installed), "unsupported", "refused" (by the person or the browser), "failed" (the browser's push service).
 * @type {Signal<"off" | "on" | "busy" | "insecure" | "install" | "unsupported" | "refused" | "failed">}
 */
export const push = signal("off");

/** See how things stand: permissions change while nobody looks. */
export function lookAtPush() {
  if (push.value !== "busy") push.value = obstacle() ?? (kept(KEPT) === null ? "off" : "on");
}

/** To be pressed: browsers ask the person then. Rejects as requests do. */
export async function subscribe() {
  push.value = "busy";
  try {
    await Notification.requestPermission();
    push.value = obstacle() ?? (await renew());
  } catch (error) {
    lookAgain();
    throw error;
  }
}

export async function unsubscribe() {
  push.value = "busy";
  try {
    await api("DELETE", "/api/me/push");
    await drop();
  } finally {
    lookAgain();
  }
}

function lookAgain() {
  push.value = "off";
  lookAtPush();
}

/** Have a subscription with the server's key that the server knows; "on", or why not. @returns {Promise<"on" | "unsupported" | "refused" | "failed">} */
async function renew() {
  const registration = await running();
  if (!registration) return "unsupported";
  const { public_key: key, subscribed } = await api("GET", "/api/me/push");
  const subscription = await subscriptionWith(registration.pushManager, bytes(key));
  if (typeof subscription === "string") return subscription;
  const { endpoint, keys } = /** @type {Body<"PUT", "/api/me/push">} */ (subscription.toJSON());
  if (!subscribed || endpoint !== kept(KEPT)) await api("PUT", "/api/me/push", { endpoint, keys });
  keep(KEPT, endpoint);
  await Promise.all([teach("private", t("private-pushed")), teach("call", t("private-call-pushed"))]).catch(() => {});
  return "on";
}

/** One that was made with another key is of no use any more. Why there is none, where there is none. @param {PushManager} manager @param {Uint8Array<ArrayBuffer>} key @returns {Promise<PushSubscription | "refused" | "failed">} */
async function subscriptionWith(manager, key) {
  const present = await manager.getSubscription();
  if (present && same(new Uint8Array(present.options.applicationServerKey ?? []), key)) return present;
  try {
    await present?.unsubscribe();
    return await manager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
  } catch (/** @type {any} */ error) {
    return error.name === "NotAllowedError" ? "refused" : "failed";
  }
}

/** Have none. */
async function drop() {
  if (kept(KEPT) === null) return;
  keep(KEPT, null);
  const subscription = await (await running())?.pushManager?.getSubscription();
  await subscription?.unsubscribe();
}

/** Why there can be no push here, or null. */
function obstacle() {
  if (!globalThis.isSecureContext) return "insecure";
  // On iPhones and iPads only installed pages are rung.
  if (!globalThis.PushManager || !globalThis.Notification) return navigator.standalone === false ? "install" : "unsupported";
  return Notification.permission === "denied" ? "refused" : null;
}

/** @param {Uint8Array} one @param {Uint8Array} other */
const same = (one, other) => one.length === other.length && one.every((each, at) => each === other[at]);

/** @param {string} base64url */
function bytes(base64url) {
  return Uint8Array.from(atob(base64url.replaceAll("-", "+").replaceAll("_", "/")), (each) => each.charCodeAt(0));
}

listen({
  greet() {
    lookAtPush();
    // The server may have a new key, and the browser a new address; what fails is tried at the next greeting.
    if (push.value === "on") renew().then((state) => { push.value = state; }, () => {});
  },
  forget() {
    drop().catch(() => {});
    push.value = "off";
  },
});
