// What is to be said and is not encrypted yet, because nobody could read it or because the server has refused it. It is
// kept like everything else, so that a page may end meanwhile. docs/private.md

/**
 * @import { Changes } from "../../transport/private_store.js"
 * @import { Said } from "./content.js"
 *
 * @typedef {{get: (name: string) => Promise<any>, put: (changes: Changes) => Promise<void>, under: (prefix: string) => Promise<any[]>}} Kept
 * @typedef {{code?: string, message: string, status?: number, details?: object}} Refused
 * @typedef {{said: Said, atMs: number, refused?: Refused}} Waiting
 * @typedef {Waiting & {message: Uint8Array, commitment: Uint8Array, digest: string}} Outgoing
 */

const WAITING = (/** @type {string} */ id, key = "") => `waiting/${id}/${key}`;

/** No device of anybody else is in the conversation yet, or this one is not let in yet. */
export class NotYet extends Error {
  /** @param {"alone" | "outside"} code */
  constructor(code) {
    super(code);
    this.code = code;
  }
}

/** Are people to be told of it while they are away? Not of a reaction, nor of what has changed. @param {Said} said */
export const rings = ({ type = "message" }) => type === "message";

/** Keep it until it can go. `said.key` tells it from everything else that this member says. @param {Kept} kept @param {string} id @param {Said} said @param {number} atMs */
export async function wait(kept, id, said, atMs) {
  const before = await kept.get(WAITING(id, said.key));
  await kept.put([[WAITING(id, said.key), { said, atMs: before?.atMs ?? atMs }]]);
}

/** What waits, the oldest first: [{said, atMs, refused}]. @param {Kept} kept @param {string} id @returns {Promise<Waiting[]>} */
export async function allWaiting(kept, id) {
  return (await kept.under(WAITING(id))).sort((one, other) => one.atMs - other.atMs);
}

/** What is not in the history yet, the oldest first; `outgoing` is encrypted already and cannot be taken back. @param {Kept} kept @param {string} id @returns {Promise<Waiting[]>} */
export async function unsentOf(kept, id) {
  const waiting = await allWaiting(kept, id);
  const { outgoing = [] } = (await kept.get(`group/${id}`)) ?? {};
  return [...outgoing, ...waiting];
}

/** The next that may go. @param {Kept} kept @param {string} id */
export const nextWaiting = async (kept, id) => (await allWaiting(kept, id)).find(({ refused }) => !refused);

/** The change that ends its waiting. @param {string} id @param {Pick<Said, "key">} said @returns {Changes[number]} */
export const noMore = (id, { key }) => [WAITING(id, key), undefined];

/** The change that keeps what was encrypted for nothing. @param {string} id @param {Waiting} item @returns {Changes[number]} */
export const waitAgain = (id, { said, atMs }) => [WAITING(id, said.key), { said, atMs }];

/** The change that keeps what the server has refused, until its author decides. @param {string} id @param {Said} said @param {number} atMs @param {Refused} error @returns {Changes[number]} */
export function refusedAs(id, said, atMs, { code, message, status, details }) {
  return [WAITING(id, said.key), { said, atMs, refused: { code, message, status, details } }];
}
