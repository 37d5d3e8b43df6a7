// Manages this device's Web Push subscription: creates it in the browser, sends it to the server, and renews
// it when the browser or the server has lost it.

/** @import { Body } from "../types/wire.js" */

import { storeValue, storedText } from "../transport/browser_storage.js";
import { activeRegistration, configure } from "../transport/service_worker_registration.js";
import { t } from "../words/words.js";
import { STORED_PUSH, lookAtPush, obstacle, push } from "./push.js";
import { api } from "./server.js";

/**
 * Turn Web Push on. This requires a user gesture, because the browser asks for permission. Rejects with the
 * same errors as a request.
 */
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

/**
 * Ensure that there is a subscription with the server's key and that the server has it. Return "on", or the
 * reason for the failure.
 * @returns {Promise<"on" | "unsupported" | "refused" | "failed">}
 */
export async function renew() {
  const registration = await activeRegistration();
  if (!registration) return "unsupported";
  const { public_key: key, subscribed } = await api("GET", "/api/me/push");
  const subscription = await subscriptionWith(registration.pushManager, bytes(key));
  if (typeof subscription === "string") return subscription;
  const { endpoint, keys } = /** @type {Body<"PUT", "/api/me/push">} */ (subscription.toJSON());
  if (!subscribed || endpoint !== storedText(STORED_PUSH))
    await api("PUT", "/api/me/push", { endpoint, keys });
  storeValue(STORED_PUSH, endpoint);
  await Promise.all([
    configure("private", t("private-pushed")),
    configure("call", t("private-call-pushed")),
  ]).catch(() => {});
  return "on";
}

/**
 * Return the subscription with this key. Replace a subscription that has a different key. If the browser
 * cannot create one, return the reason.
 * @param {PushManager} manager
 * @param {Uint8Array<ArrayBuffer>} key
 * @returns {Promise<PushSubscription | "refused" | "failed">}
 */
async function subscriptionWith(manager, key) {
  const present = await manager.getSubscription();
  if (present && sameBytes(new Uint8Array(present.options.applicationServerKey ?? []), key)) return present;
  try {
    await present?.unsubscribe();
    return await manager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
  } catch (/** @type {any} */ error) {
    return error.name === "NotAllowedError" ? "refused" : "failed";
  }
}

/** Remove the subscription. */
export async function drop() {
  if (storedText(STORED_PUSH) === null) return;
  storeValue(STORED_PUSH, null);
  const subscription = await (await activeRegistration())?.pushManager?.getSubscription();
  await subscription?.unsubscribe();
}

/** @param {Uint8Array} a @param {Uint8Array} b */
const sameBytes = (a, b) => a.length === b.length && a.every((byte, at) => byte === b[at]);

/** @param {string} base64url */
function bytes(base64url) {
  return Uint8Array.from(atob(base64url.replaceAll("-", "+").replaceAll("_", "/")), (character) =>
    character.charCodeAt(0),
  );
}
