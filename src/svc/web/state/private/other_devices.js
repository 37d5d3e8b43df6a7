// Verifies the statements of the other devices in a group against the server's data before trusting them. See
// docs/private.md.

/**
 * @import { PrivateDevice } from "../../types/api.js"
 * @import { Entry } from "./apply_log_entry.js"
 * @import { State, Stated } from "./mls.js"
 *
 * @typedef {typeof import("../server.js").api} Api
 * @typedef {Pick<Stated, "memberId" | "thumbprint">} Device
 */

import { fromBase64, leavesOf, ownerOf, readStatement, textOf } from "./mls.js";

/** The error thrown when the server has omitted or repeated a log entry. */
export class WithheldEntryError extends Error {}

/**
 * Return the key packages of these devices, except any that contradict the server's data.
 * @param {Api} api @param {string} id @param {PrivateDevice[]} devices @param {string[] | null} between The
 *   only members allowed in the group, or null.
 * @param {string} audience
 */
export async function packagesOf(api, id, devices, between, audience) {
  const path = /** @type {const} */ (`/api/private/conversations/${encodeURIComponent(id)}/key-packages`);
  const { key_packages: packages } = await api("POST", path, { devices: devices.map((device) => device.id) });
  const valid = [];
  for (const { device_id: deviceId, key_package: text } of packages) {
    const [data, device] = /** @type {const} */ ([
      fromBase64(text),
      devices.find((device) => device.id === deviceId),
    ]);
    const owner = await ownerOf(data, audience).catch(() => null);
    const matches = owner && isSameDevice(owner, device) && (!between || between.includes(owner.memberId));
    if (matches) valid.push(data);
  }
  return valid;
}

/**
 * Return the leaves of a group that belong to these devices.
 * @param {State} state
 * @param {PrivateDevice[]} devices
 * @param {string} audience
 */
export async function leavesOfDevices(state, devices, audience) {
  const stated = await statedIn(state, audience);
  return stated
    .filter((statement) => devices.some((device) => isSameDevice(statement, device)))
    .map(({ leaf }) => leaf);
}

/**
 * Return other members' devices in a group.
 * @param {State} state
 * @param {string} memberId
 * @param {string} audience
 */
export async function othersIn(state, memberId, audience) {
  return (await statedIn(state, audience)).filter((device) => device.memberId !== memberId);
}

/** @param {Device} stated @param {PrivateDevice | undefined} device */
const isSameDevice = (stated, device) =>
  stated.memberId === device?.member_id && stated.thumbprint === device?.thumbprint;

/** Return the member and thumbprint of each leaf in a group. @param {State} state @param {string} audience */
export async function statedIn(state, audience) {
  const all = leavesOf(state).map(async ({ leaf, statement }) => ({
    leaf,
    .../** @type {Stated} */ (await readStatement(statement, audience)),
  }));
  return Promise.all(all);
}

/**
 * Return the change that adds an entry to the history.
 * @param {string} id @param {{seq: number, said: unknown, sentAtMs: number, chain?: string, tag?: string |
 *   null}} entry @param {string | undefined} statement @param {string} audience
 * @returns {Promise<[name: string, value: Entry]>}
 */
export async function entryOf(id, { seq, said: payload, sentAtMs, chain, tag }, statement, audience) {
  const { memberId = null, thumbprint = null } = /** @type {Partial<Stated>} */ (
    (statement && (await readStatement(statement, audience))) ?? {}
  );
  return [`history/${id}/${seq}`, { seq, memberId, thumbprint, said: payload ?? null, sentAtMs, chain, tag }];
}

/** Parse a decrypted message; null if it is not an object. @param {Uint8Array | undefined} data */
export function parsePayload(data) {
  try {
    const payload = JSON.parse(textOf(/** @type {Uint8Array} */ (data)));
    return payload && typeof payload === "object" && !Array.isArray(payload) ? payload : null;
  } catch {
    return null;
  }
}

/**
 * Report an error response for one conversation, so that the others can continue. Rethrow all other errors,
 * and those that mean that the server no longer recognises us, because they affect all conversations.
 * @param {any} error
 */
export function reportResponse(error) {
  if (!error.status || error.status === 401) throw error;
  reportProblem(error);
}

/** Report an error to the page's error handlers, if there is a page. @param {unknown} error */
export function reportProblem(error) {
  globalThis.reportError?.(error);
}
