// Creates private group conversations, and changes their members and names. A name is sent as an encrypted
// message, so the server cannot read it. See docs/private.md.

/** @import { PathOf } from "../../types/wire.js" */

import { conversationsById } from "../private_conversations.js";
import { api } from "../server.js";
import { namePayload, removalPayload } from "./content.js";
import { ownIdentity } from "./own_identity.js";
import { createConversation, forgetConversation, leftConversations, synchronise } from "./log_reader.js";
import { sendPayload } from "./outbox.js";

const conversationPath = /** @type {PathOf<"/api/private/conversations">} */ (
  (id, /** @type {any} */ suffix) => `/api/private/conversations/${encodeURIComponent(id)}${suffix}`
);

/**
 * Create a conversation with these members. Resolves with its id.
 * @param {string[]} memberIds
 * @param {string} name The name, which may be empty.
 */
export async function createGroup(memberIds, name) {
  const id = await createConversation(memberIds);
  if (name) rename(id, name);
  return id;
}

/** Add these members, who cannot read earlier messages. @param {string} id @param {string[]} memberIds */
export async function addMembers(id, memberIds) {
  for (const memberId of memberIds)
    await api("PUT", conversationPath(id, `/members/${encodeURIComponent(memberId)}`), {});
  await synchronise(id);
}

/**
 * Remove a member with all their devices, and announce the removal.
 * @param {string} id
 * @param {string} memberId
 */
export async function removeMember(id, memberId) {
  await api("DELETE", conversationPath(id, `/members/${encodeURIComponent(memberId)}`), {});
  await sendPayload(id, removalPayload(memberId));
}

/** @param {string} id @param {string} name */
export const rename = (id, name) => sendPayload(id, namePayload(name));

/** Leave a conversation and delete all its stored data. @param {string} id */
export async function leave(id) {
  leftConversations.add(id);
  await api("POST", conversationPath(id, "/leave"), {});
  await forgetConversation(id);
}

/** Send the conversation's name again for a member whom this device has added. @param {string} id */
export async function announceName(id) {
  const { store } = await ownIdentity();
  if (!(await store.get(`greet/${id}`))) return;
  await store.put([[`greet/${id}`, undefined]]);
  const { name = "" } = conversationsById.value.get(id) ?? {};
  if (name) await rename(id, name);
}
