// Implements message franking, which lets a report prove who wrote a message. The author commits to the text
// with a key that only the message contains, and the server tags the commitment. See docs/private.md.

/** @import { Payload } from "./content.js" */

import { fromBase64, hexOf, toBase64, utf8 } from "./mls.js";
import { encryptedFilesIn, isBytes } from "./file_encryption.js";

const KEY_BYTES = 32;

/**
 * Return the content of a message that a report can reveal: the text and the file names.
 * @param {{[part: string]: any}} payload
 */
export const revealable = ({ text, files }) =>
  JSON.stringify(
    [typeof text === "string" ? text : "", ...encryptedFilesIn(files).map(({ name }) => name)].map((part) =>
      part.toWellFormed(),
    ),
  );

/**
 * Commit to a message. Return {frank, commitment, shown}: the key to include in the message, the commitment
 * for the server, and the data that the message is bound to.
 * @param {Payload} payload
 */
export async function createFrank(payload) {
  const key = crypto.getRandomValues(new Uint8Array(KEY_BYTES));
  const commitment = await commitmentOf(key, payload);
  return { frank: toBase64(key), commitment, shown: await digest(commitment) };
}

/** Return whether a recipient can report the message. @param {any} payload @param {Uint8Array} shown */
export async function isFranked(payload, shown) {
  return (
    isBytes(payload?.frank) &&
    hexOf(await digest(await commitmentOf(fromBase64(payload.frank), payload))) === hexOf(shown)
  );
}

/** @param {Uint8Array} key @param {{[part: string]: any}} payload */
async function commitmentOf(key, payload) {
  const imported = await crypto.subtle.importKey(
    "raw",
    /** @type {BufferSource} */ (key),
    { name: "HMAC", hash: "SHA-256" },
    false,
    ["sign"],
  );
  return new Uint8Array(await crypto.subtle.sign("HMAC", imported, utf8(revealable(payload))));
}

/** @param {Uint8Array} data */
const digest = async (data) =>
  new Uint8Array(await crypto.subtle.digest("SHA-256", /** @type {BufferSource} */ (data)));
