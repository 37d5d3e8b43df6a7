// Remembers all devices that have ever been in a private conversation. If a group is created again, or this
// device is added again, no commit lists the new devices, so this module detects them. See docs/private.md.

/** @import { Changes } from "../../transport/private_store.js" */
/** @import { Device } from "./other_devices.js" */
/** @import { Store } from "./unsent_messages.js" */

const KNOWN = (/** @type {string} */ id) => `known/${id}`;

/**
 * Remember these devices, and add a note about new devices to the history.
 * @param {Store} store @param {string} id @param {Device[]} devices
 * @param {{seq: number, sentAtMs: number}} at The note's position in the history.
 */
export async function noteUnknown(store, id, devices, { seq, sentAtMs }) {
  /** @type {Device[] | undefined} */
  const known = await store.get(KNOWN(id));
  const announced = (await store.under(`changes/${id}/`)).flatMap(({ added }) => added);
  const unknown = devices.filter(notIn([...(known ?? []), ...announced]));
  const all = [...(known ?? []), ...devices.filter(notIn(known ?? []))].map(({ memberId, thumbprint }) => ({
    memberId,
    thumbprint,
  }));
  if (known && all.length === known.length) return;
  /** @type {Changes} */
  const changes = [[KNOWN(id), all]];
  const membersOf = (/** @type {Device[]} */ some) => [...new Set(some.map(({ memberId }) => memberId))];
  if (known && unknown.length)
    changes.push([
      `changes/${id}/${seq}.again`,
      { seq, sentAtMs, added: unknown, removed: [], before: membersOf(known), after: membersOf(devices) },
    ]);
  await store.put(changes);
}

/** @param {Device[]} all */
const notIn =
  (all) =>
  (/** @type {Device} */ { memberId, thumbprint }) =>
    !all.some((device) => device.memberId === memberId && device.thumbprint === thumbprint);
