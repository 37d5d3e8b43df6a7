// Who this browser is in private conversations, and what it keeps of them. docs/private.md

/**
 * @import { Member } from "../../types/api.js"
 * @import { Kept } from "./waiting.js"
 *
 * @typedef {Awaited<ReturnType<typeof make>>} Own
 * @typedef {ConstructorParameters<typeof PrivateDevice>[0]} Parts
 */

import { deviceKey, signed } from "../../transport/device_key.js";
import { post } from "../../transport/http.js";
import { inTurn } from "../../transport/kept.js";
import { erasePrivateStore, openPrivateStore } from "../../transport/private_store.js";
import { api, member } from "../server.js";
import { PrivateDevice } from "./device.js";

const TURN = "svc.private"; // The lock that tabs take.

/** {memberId, kept, device, prepared}: of whom we are. @type {Promise<Own> | null} */
let own = null;

/** By channel: this browser in the group of its call. @type {Map<string, {kept: Kept, device: PrivateDevice, look: () => void}>} */
export const inCalls = new Map();

/** By conversation in whose call this page is: what to call when its keys may have changed. @type {Map<string, () => void>} */
export const inTalks = new Map();

/** Who we are; made when it is first wanted. */
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
  const device = new PrivateDevice({ ...parts, kept, inCall: inTalks, inTurn: (act) => inTurn(TURN, act) });
  return { memberId, kept, device, parts, prepared: false };
}

/** This device where it keeps something else. @param {Own} mine @param {Kept} kept @param {Pick<Parts, "inCall" | "inTurn" | "channelId">} more */
export const deviceOf = ({ parts }, kept, more) => new PrivateDevice({ ...parts, ...more, kept });

/** Who we are, once the server knows this device and others can add it. */
export async function takePart() {
  const mine = await start();
  if (!mine.prepared) await mine.device.prepare();
  mine.prepared = true;
  return mine;
}

/** Are we still the same? @param {Own} mine */
export const isStill = ({ memberId }) => own !== null && member.value?.id === memberId;

/** Nothing of who we were is left in this browser. */
export async function forgetOwn() {
  own = null;
  inCalls.clear();
  inTalks.clear();
  await inTurn(TURN, () => erasePrivateStore());
}
