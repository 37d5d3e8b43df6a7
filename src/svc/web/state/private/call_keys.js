// What frames of a private conversation's call are sealed with, and whose the devices are that seal. docs/private.md

/** @import { PrivateDevice } from "./device.js" */
/** @import { Kept } from "./waiting.js" */

import { readStatement } from "./mls.js";

/** {epoch, leaf, baseKey, members}: of this epoch; `members` are the ids by leaf. Null outside the group. @param {{kept: Kept, device: PrivateDevice}} own @param {string} id */
export async function keysOf({ kept, device }, id) {
  const standing = await device.standing(id);
  if (!standing) return null;
  const audience = await kept.get("audience");
  const { leaves, ...keys } = await standing.callKeys();
  const stated = await Promise.all(leaves.map(async ({ leaf, statement }) => /** @type {const} */ ([leaf, (await readStatement(statement, audience))?.memberId])));
  return { ...keys, members: Object.fromEntries(stated) };
}
