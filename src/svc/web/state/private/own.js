// Who this browser is in private conversations, and what it keeps of them. docs/private.md

/**
 * @import { Member } from "../../types/api.js"
 *
 * @typedef {Awaited<ReturnType<typeof make>>} Own
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
  const device = new PrivateDevice({ api, kept, sign, memberId, audience, inTurn: (act) => inTurn(TURN, act) });
  return { memberId, kept, device, prepared: false };
}

/** Are we still the same? @param {Own} mine */
export const isStill = ({ memberId }) => own !== null && member.value?.id === memberId;

/** Nothing of who we were is left in this browser. */
export async function forgetOwn() {
  own = null;
  await inTurn(TURN, () => erasePrivateStore());
}
