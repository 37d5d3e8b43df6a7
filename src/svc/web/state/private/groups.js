// Private group conversations: their members and names. A name is sent as an encrypted message, so the server
// does not know it. See docs/private.md

/** @import { PathOf } from "../../types/wire.js" */

import { conversationsById } from "../private_conversations.js";
import { api } from "../server.js";
import { namePayload, removalPayload } from "./content.js";
import { start } from "./own_identity.js";
import { begin, forgetConversation, left, look } from "./log_reader.js";
import { say } from "./outbox.js";

const ONE = /** @type {PathOf<"/api/private/conversations">} */ (
  (id, /** @type {any} */ rest) => `/api/private/conversations/${encodeURIComponent(id)}${rest}`
);

/**
 * Create a conversation with these members. Resolves with its id.
 * @param {string[]} memberIds
 * @param {string} name may be empty
 */
export async function makeGroup(memberIds, name) {
  const id = await begin(memberIds);
  if (name) rename(id, name);
  return id;
}

/** Add these members. They cannot read earlier messages. @param {string} id @param {string[]} memberIds */
export async function addPeople(id, memberIds) {
  for (const memberId of memberIds) await api("PUT", ONE(id, `/members/${encodeURIComponent(memberId)}`), {});
  await look(id);
}

/** Remove a member with all their devices and announce it. @param {string} id @param {string} memberId */
export async function removePerson(id, memberId) {
  await api("DELETE", ONE(id, `/members/${encodeURIComponent(memberId)}`), {});
  await say(id, removalPayload(memberId));
}

/** @param {string} id @param {string} name */
export const rename = (id, name) => say(id, namePayload(name));

/** Leave a conversation and delete all of its stored data. @param {string} id */
export async function leave(id) {
  left.add(id);
  await api("POST", ONE(id, "/leave"), {});
  await forgetConversation(id);
}

/** Send the conversation's name again for a member whom this device has added. @param {string} id */
export async function greet(id) {
  const { kept } = await start();
  if (!(await kept.get(`greet/${id}`))) return;
  await kept.put([[`greet/${id}`, undefined]]);
  const { name = "" } = conversationsById.value.get(id) ?? {};
  if (name) await rename(id, name);
}
