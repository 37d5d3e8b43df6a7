// Stores messages that are not in the log yet, so that the page can be closed in the meantime. Some messages
// are not encrypted, because nobody can read them yet or the server rejected them. Others are encrypted but
// not sent. See docs/private.md.

/**
 * @import { Changes } from "../../transport/private_store.js"
 * @import { Payload } from "./content.js"
 * @import { Group } from "./apply_log_entry.js"
 *
 * @typedef {{get: (name: string) => Promise<any>, put: (changes: Changes) => Promise<void>, under: (prefix:
 *   string) => Promise<any[]>}} Store
 * @typedef {{code?: string, message: string, status?: number, details?: object}} Rejection
 * @typedef {{said: Payload, atMs: number, refused?: Rejection}} WaitingMessage The message as it is stored.
 *   `said` is the payload.
 * @typedef {WaitingMessage & {message: Uint8Array, commitment: Uint8Array, digest: string}} Outgoing
 */

const WAITING = (/** @type {string} */ id, key = "") => `waiting/${id}/${key}`;

/**
 * The error thrown while no other member's device is in the conversation, or this device has not been added.
 */
export class NoRecipientError extends Error {
  /** @param {"alone" | "outside"} code */
  constructor(code) {
    super(code);
    this.code = code;
  }
}

/**
 * Return whether a message should notify members who are away. Reactions and edits do not.
 * @param {Payload} payload
 */
export const notifies = ({ type = "message" }) => type === "message";

/**
 * Store a message until it can be sent. `payload.key` must be unique among this member's messages.
 * @param {Store} store
 * @param {string} id
 * @param {Payload} payload
 * @param {number} atMs
 */
export async function storeUnsent(store, id, payload, atMs) {
  const before = await store.get(WAITING(id, payload.key));
  await store.put([[WAITING(id, payload.key), { said: payload, atMs: before?.atMs ?? atMs }]]);
}

/**
 * Return the waiting messages, oldest first: [{said, atMs, refused}].
 * @param {Store} store
 * @param {string} id
 * @returns {Promise<WaitingMessage[]>}
 */
export async function allWaiting(store, id) {
  return (await store.under(WAITING(id))).sort((a, b) => a.atMs - b.atMs);
}

/**
 * Return the messages that are not in the history yet, oldest first. Messages that are already encrypted come
 * first and cannot be withdrawn.
 * @param {Store} store
 * @param {string} id
 * @returns {Promise<WaitingMessage[]>}
 */
export async function unsentOf(store, id) {
  const waiting = await allWaiting(store, id);
  const { outgoing = [] } = (await store.get(`group/${id}`)) ?? {};
  return [...outgoing, ...waiting];
}

/** Return the next message that may be sent. @param {Store} store @param {string} id */
export const nextWaiting = async (store, id) => (await allWaiting(store, id)).find(({ refused }) => !refused);

/**
 * Return the change that removes a waiting message.
 * @param {string} id
 * @param {Pick<Payload, "key">} payload
 * @returns {Changes[number]}
 */
export const removalOf = (id, { key }) => [WAITING(id, key), undefined];

/**
 * Return the change that makes an encrypted but unsent message wait again.
 * @param {string} id
 * @param {WaitingMessage} item
 * @returns {Changes[number]}
 */
export const requeued = (id, { said: payload, atMs }) => [WAITING(id, payload.key), { said: payload, atMs }];

/**
 * Return the change that stores a rejected message until the member decides what to do with it.
 * @param {string} id
 * @param {Payload} payload
 * @param {number} atMs
 * @param {Rejection} error
 * @returns {Changes[number]}
 */
export function rejectionOf(id, payload, atMs, { code, message, status, details }) {
  return [WAITING(id, payload.key), { said: payload, atMs, refused: { code, message, status, details } }];
}

/**
 * Remove an encrypted message that was not sent. Return false if the message is in the log after all.
 * @param {Store} store
 * @param {string} id
 * @param {Outgoing} outgoing
 * @param {Changes} changes
 */
export async function dropOutgoing(store, id, { digest }, changes = []) {
  /** @type {Group | undefined} */
  const group = await store.get(`group/${id}`);
  if (!group?.outgoing.some((message) => message.digest === digest)) return false;
  await store.put([
    [`group/${id}`, { ...group, outgoing: group.outgoing.filter((message) => message.digest !== digest) }],
    ...changes,
  ]);
  return true;
}
