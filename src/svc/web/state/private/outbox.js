// Sends messages in private conversations. Each is stored, shown at once, and sent when somebody can read it.
// See docs/private.md

/** @import { Ref, Payload } from "./content.js" */
/** @import { EncryptedFile } from "./file_encryption.js" */
/** @typedef {{conversation_id: string, ref: Ref, attachments: {id: string}[]}} Named */

import { explain } from "../../words/words.js";
import { notify } from "../notices.js";
import { deletionPayload, editPayload, messagePayload, reactionPayload } from "./content.js";
import { erase } from "./files.js";
import { start } from "./own_identity.js";
import { leaving, look, showAgain } from "./log_reader.js";
import { NotYet, unsentOf, storeUnsent } from "./unsent_messages.js";

const AGAIN_MS = 15_000; // The delay before a retry after the server could not accept a message.

/** @param {string} id @param {string} text @param {{reply?: Ref | null, files?: EncryptedFile[]}} [rest] */
export const send = (id, text, rest) => say(id, messagePayload(text, rest));

/** The actions on a message, with the same interface as the actions for channels. */
export const acts = {
  /** @param {Named} message @param {string} text */
  edit: ({ conversation_id: id, ref }, text) => say(id, editPayload(ref, text)),
  /** Delete a message with its files. @param {Named} message */
  async remove({ conversation_id: id, ref, attachments }) {
    await say(id, deletionPayload(ref));
    await Promise.all(attachments.map((file) => erase(id, file.id)));
  },
  /** @param {Named} message @param {string} emoji @param {boolean} on */
  react: ({ conversation_id: id, ref }, emoji, on) => say(id, reactionPayload(ref, emoji, on)),
};

/** Retry a rejected message. @param {string} id @param {string} key */
export async function sendAgain(id, key) {
  const { kept } = await start();
  const item = (await unsentOf(kept, id)).find(({ said: payload }) => payload.key === key);
  if (!item) return;
  await storeUnsent(kept, id, item.said, item.atMs);
  await say(id, item.said, item.atMs);
}

/** @param {string} id @param {string} key */
export async function discard(id, key) {
  const { device } = await start();
  await device.discard(id, key);
  await look(id);
}

/** Send the content that private/content.js has created. @param {string} id @param {Payload} payload */
export async function say(id, payload, atMs = Date.now()) {
  leaving.set(payload.key, { id, said: payload, atMs });
  const { device } = await start();
  await showAgain(id);
  try {
    await device.send(id, payload);
  } catch (/** @type {any} */ error) {
    if (error.status !== undefined && payload.type !== "message") {
      await device.discard(id, payload.key);
      notify(explain(error));
    } else if (error.status !== undefined) setTimeout(() => look(id), AGAIN_MS);
    else if (error.code !== "unreachable" && !(error instanceof NotYet)) reportError(error);
  } finally {
    leaving.delete(payload.key);
    await look(id);
    await showAgain(id);
  }
}
