// Creates this browser's identity in private conversations, and opens its store. See docs/private.md.

/**
 * @import { Member } from "../../types/api.js"
 * @import { Store } from "./unsent_messages.js"
 *
 * @typedef {Awaited<ReturnType<typeof createIdentity>>} Identity
 * @typedef {ConstructorParameters<typeof PrivateDevice>[0]} Parts
 */

import { deviceKey, signed } from "../../transport/device_key.js";
import { post } from "../../transport/http.js";
import { withLock } from "../../transport/browser_storage.js";
import { erasePrivateStore, openPrivateStore } from "../../transport/private_store.js";
import { api, member } from "../server.js";
import { PrivateDevice } from "./mls_client.js";

const TURN = "svc.private"; // The name of the lock that only one tab holds at a time.

/** Our identity, {memberId, store, device, prepared}. @type {Promise<Identity> | null} */
let own = null;

/**
 * This browser's membership in the groups for channel calls, by channel.
 * @type {Map<string, {store: Store, device: PrivateDevice, synchronise: () => void}>}
 */
export const channelCalls = new Map();

/**
 * For each conversation whose call this tab is in, a function to call when the keys may have changed.
 * @type {Map<string, () => void>}
 */
export const conversationCalls = new Map();

/** Return our identity, created on first use. */
export function ownIdentity() {
  const memberId = /** @type {Member} */ (member.value).id;
  own ??= createIdentity(memberId).catch((error) => {
    own = null;
    throw error;
  });
  return own;
}

/** @param {string} memberId */
async function createIdentity(memberId) {
  const store = await openPrivateStore(memberId);
  let audience = await store.get("audience");
  if (!audience) {
    ({ audience } = await post("/api/auth/challenge", {}));
    await store.put([["audience", audience]]);
  }
  const sign = async (/** @type {object} */ claims) => {
    const key = await deviceKey();
    return signed(key, claims, { jwk: key.jwk });
  };
  const parts = { api, sign, memberId, audience };
  const device = new PrivateDevice({
    ...parts,
    store,
    inCall: conversationCalls,
    withLock: (act) => withLock(TURN, act),
  });
  return { memberId, store, device, parts, prepared: false };
}

/**
 * Return a copy of this device that uses a different store.
 * @param {Identity} identity
 * @param {Store} store
 * @param {Pick<Parts, "inCall" | "withLock" | "channelId">} more
 */
export const deviceOf = ({ parts }, store, more) => new PrivateDevice({ ...parts, ...more, store });

/** Return our identity once this device is registered with the server, so that other devices can add it. */
export async function registeredIdentity() {
  const identity = await ownIdentity();
  if (!identity.prepared) await identity.device.prepare();
  identity.prepared = true;
  return identity;
}

/**
 * Return whether this identity belongs to the member who is currently signed in.
 * @param {Identity} identity
 */
export const isCurrent = ({ memberId }) => own !== null && member.value?.id === memberId;

/** Delete all data about our identity in this browser. */
export async function clearIdentity() {
  own = null;
  channelCalls.clear();
  conversationCalls.clear();
  await withLock(TURN, () => erasePrivateStore());
}
