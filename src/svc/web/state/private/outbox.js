// Sends messages in private conversations. A message is stored and shown immediately, and sent once somebody
// can read it. See docs/private.md.

/** @import { Ref, Payload } from "./content.js" */
/** @import { EncryptedFile } from "./file_encryption.js" */
/** @typedef {{conversation_id: string, ref: Ref, attachments: {id: string}[]}} MessageReference */

import { explain } from "../../words/words.js";
import { notify } from "../notices.js";
import { deletionPayload, editPayload, messagePayload, reactionPayload } from "./content.js";
import { deleteFile } from "./files.js";
import { ownIdentity } from "./own_identity.js";
import { leaving, synchronise, republish } from "./log_reader.js";
import { NoRecipientError, unsentOf, storeUnsent } from "./unsent_messages.js";

const RETRY_MS = 15_000; // The delay before a retry if the server was unable to accept a message.

/**
 * @param {string} id @param {string} text @param {{reply?: Ref | null, files?: EncryptedFile[]}} [options]
 */
export const send = (id, text, options) => sendPayload(id, messagePayload(text, options));

/** The actions on a message, with the same interface as for messages in channels. */
export const messageActions = {
  /** @param {MessageReference} message @param {string} text */
  edit: ({ conversation_id: id, ref }, text) => sendPayload(id, editPayload(ref, text)),
  /** Delete a message and its files. @param {MessageReference} message */
  async remove({ conversation_id: id, ref, attachments }) {
    await sendPayload(id, deletionPayload(ref));
    await Promise.all(attachments.map((file) => deleteFile(id, file.id)));
  },
  /** @param {MessageReference} message @param {string} emoji @param {boolean} on */
  react: ({ conversation_id: id, ref }, emoji, on) => sendPayload(id, reactionPayload(ref, emoji, on)),
};

/** Retry a rejected message. @param {string} id @param {string} key */
export async function sendAgain(id, key) {
  const { store } = await ownIdentity();
  const item = (await unsentOf(store, id)).find(({ said: payload }) => payload.key === key);
  if (!item) return;
  await storeUnsent(store, id, item.said, item.atMs);
  await sendPayload(id, item.said, item.atMs);
}

/** @param {string} id @param {string} key */
export async function discard(id, key) {
  const { device } = await ownIdentity();
  await device.discard(id, key);
  await synchronise(id);
}

/** Send a payload that private/content.js has created. @param {string} id @param {Payload} payload */
export async function sendPayload(id, payload, atMs = Date.now()) {
  leaving.set(payload.key, { id, said: payload, atMs });
  const { device } = await ownIdentity();
  await republish(id);
  try {
    await device.send(id, payload);
  } catch (/** @type {any} */ error) {
    if (error.status !== undefined && payload.type !== "message") {
      await device.discard(id, payload.key);
      notify(explain(error));
    } else if (error.status !== undefined) setTimeout(() => synchronise(id), RETRY_MS);
    else if (error.code !== "unreachable" && !(error instanceof NoRecipientError)) reportError(error);
  } finally {
    leaving.delete(payload.key);
    await synchronise(id);
    await republish(id);
  }
}
