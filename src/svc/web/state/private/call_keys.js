// Derives the frame keys for an encrypted call, and lists the members and devices that have them. See
// docs/private.md.

/** @import { PrivateDevice } from "./mls_client.js" */
/** @import { Store } from "./unsent_messages.js" */

import { readStatement } from "./mls.js";
import { reportProblem } from "./other_devices.js";

/**
 * Return {epoch, leaf, baseKey, members, devices} for the current epoch. `members` contains the member ids by
 * leaf, and `devices` the thumbprints. Return null if this device is not in the group.
 * @param {{store: Store, device: PrivateDevice}} own @param {string} id
 */
export async function keysOf({ store, device }, id) {
  const group = await device.groupState(id);
  if (!group) return null;
  const audience = await store.get("audience");
  const { leaves, ...keys } = await group.callKeys();
  const owners = await Promise.all(
    leaves.map(async ({ leaf, statement }) => ({ leaf, ...(await readStatement(statement, audience)) })),
  );
  return {
    ...keys,
    members: Object.fromEntries(owners.map(({ leaf, memberId }) => [leaf, memberId])),
    devices: owners.map(({ thumbprint }) => thumbprint ?? ""),
  };
}

/**
 * Return a function that passes a group's current keys to `onKeys`. Its calls run one after the other, so the
 * keys of an epoch never arrive after those of a later epoch.
 * @param {() => Promise<Parameters<typeof keysOf>[0]>} identity
 * @param {string} id
 * @param {(keys: NonNullable<Awaited<ReturnType<typeof keysOf>>>) => void} onKeys
 */
export function keyNotifier(identity, id, onKeys) {
  let before = Promise.resolve();
  return () => {
    before = before
      .then(async () => {
        const keys = await keysOf(await identity(), id);
        if (keys) onKeys(keys);
      })
      .catch(reportProblem);
  };
}
