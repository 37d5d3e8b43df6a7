// This browser's identity in private conversations, and its store. See docs/private.md

/**
 * @import { Member } from "../../types/api.js"
 * @import { Kept } from "./unsent_messages.js"
 *
 * @typedef {Awaited<ReturnType<typeof make>>} Own
 * @typedef {ConstructorParameters<typeof PrivateDevice>[0]} Parts
 */

import { deviceKey, signed } from "../../transport/device_key.js";
import { post } from "../../transport/http.js";
import { inTurn } from "../../transport/browser_storage.js";
import { erasePrivateStore, openPrivateStore } from "../../transport/private_store.js";
import { api, member } from "../server.js";
import { PrivateDevice } from "./device.js";

const TURN = "svc.private"; // The name of the lock that tabs take in turn.

/** Our identity, {memberId, kept, device, prepared}. @type {Promise<Own> | null} */
let own = null;

/**
 * This browser's membership in the groups for channel calls, by channel.
 * @type {Map<string, {kept: Kept, device: PrivateDevice, look: () => void}>}
 */
export const inCalls = new Map();

/**
 * For each conversation whose call this page is in: a function to call when the call's keys may have changed.
 * @type {Map<string, () => void>}
 */
export const inConversations = new Map();

/** Return our identity, created on first use. */
export function start() {
  const memberId = /** @type {Member} */ (member.value).id;
  own ??= make(memberId).catch((error) => {
    own = null;
    throw error;
  });
  return own;
}

/** @param {string} memberId */
async function make(memberId) {
  const kept = await openPrivateStore(memberId);
  let audience = await kept.get("audience");
  if (!audience) {
    ({ audience } = await post("/api/auth/challenge", {}));
    await kept.put([["audience", audience]]);
  }
  const sign = async (/** @type {object} */ claims) => {
    const key = await deviceKey();
    return signed(key, claims, { jwk: key.jwk });
  };
  const parts = { api, sign, memberId, audience };
  const device = new PrivateDevice({
    ...parts,
    kept,
    inCall: inConversations,
    inTurn: (act) => inTurn(TURN, act),
  });
  return { memberId, kept, device, parts, prepared: false };
}

/**
 * Return a copy of this device that uses a different store.
 * @param {Own} mine
 * @param {Kept} kept
 * @param {Pick<Parts, "inCall" | "inTurn" | "channelId">} more
 */
export const deviceOf = ({ parts }, kept, more) => new PrivateDevice({ ...parts, ...more, kept });

/** Return our identity once the server knows this device, so that other devices can add it. */
export async function takePart() {
  const mine = await start();
  if (!mine.prepared) await mine.device.prepare();
  mine.prepared = true;
  return mine;
}

/** Return whether we are still the same member. @param {Own} mine */
export const isStill = ({ memberId }) => own !== null && member.value?.id === memberId;

/** Delete all data of our identity in this browser. */
export async function forgetOwn() {
  own = null;
  inCalls.clear();
  inConversations.clear();
  await inTurn(TURN, () => erasePrivateStore());
}
