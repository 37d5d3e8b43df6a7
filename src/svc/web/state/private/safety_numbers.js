// Computes the safety numbers that members compare: one for each private conversation, which is the same for
// all its members, and one for each device. See docs/private.md.

/** @import { Stated } from "./mls.js" */
/** @import { Device } from "./other_devices.js" */

import { readStatement } from "./mls.js";
import { channelCalls, ownIdentity } from "./own_identity.js";

const GROUPS = 12; // Groups of five digits, each made from five bytes.
// The number of groups for one device. It is infeasible to find a matching key by brute force.
const GROUPS_OF_ONE = 6;
const BYTES = 5;

/**
 * Return the devices in the group as [{memberId, thumbprint}], or null if this device is not in the group.
 * @param {string} id
 */
export async function devicesIn(id) {
  const { store, device } = channelCalls.get(id) ?? (await ownIdentity());
  const group = await device.groupState(id);
  if (!group) return null;
  const audience = await store.get("audience");
  return Promise.all(
    group.statements.map((statement) => /** @type {Promise<Stated>} */ (readStatement(statement, audience))),
  );
}

/**
 * Return the conversation's safety number, {digits, devices}, or null if this device is not in the group. All
 * members have the same number unless there is a man in the middle.
 * @param {string} id
 */
export async function numberOf(id) {
  const stated = await devicesIn(id);
  if (!stated) return null;
  return { digits: await digitsOf(stated, GROUPS), devices: stated.length };
}

/** Return this device as {memberId, thumbprint}. */
export async function thisDevice() {
  const { store } = await ownIdentity();
  return /** @type {Promise<Stated>} */ (
    readStatement((await store.get("identity")).statement, await store.get("audience"))
  );
}

/** Return the safety number of one device. @param {Device} device */
export const codeOf = (device) => digitsOf([device], GROUPS_OF_ONE);

/** @param {Device[]} devices @param {number} groups */
async function digitsOf(devices, groups) {
  const lines = devices.map(({ memberId, thumbprint }) => `${memberId} ${thumbprint}`).sort();
  const hash = new Uint8Array(
    await crypto.subtle.digest("SHA-512", new TextEncoder().encode(lines.join("\n"))),
  );
  const five = (/** @type {number} */ at) =>
    String(hash.subarray(at, at + BYTES).reduce((sum, byte) => sum * 256 + byte, 0) % 100_000).padStart(
      BYTES,
      "0",
    );
  return Array.from({ length: groups }, (_, number) => five(number * BYTES));
}

/**
 * Return "yes" if the current number has been compared, "lost" if only an earlier number has been, and
 * otherwise "no".
 * @param {string} id
 */
export async function isVerified(id) {
  const { store } = await ownIdentity();
  const compared = await store.get(`verified/${id}`);
  if (!compared) return "no";
  const now = await numberOf(id);
  return now && now.digits.join(" ") === compared ? "yes" : "lost";
}

/**
 * Mark a safety number as compared; null clears the mark.
 * @param {string} id
 * @param {string[] | null} digits
 */
export async function verify(id, digits) {
  const { store } = await ownIdentity();
  await store.put([[`verified/${id}`, digits?.join(" ")]]);
}
