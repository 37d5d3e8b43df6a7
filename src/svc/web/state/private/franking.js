// Message franking, the proof of authorship for reports: the author commits to the text with a key that only
// the message contains, and the server tags the commitment. See docs/private.md

/** @import { Said } from "./content.js" */

import { fromBase64, hexOf, toBase64, utf8 } from "./mls.js";
import { filesSaid, isBytes } from "./file_encryption.js";

const KEY_BYTES = 32;

/**
 * Return the part of a message that a report can reveal: the text, and the names of the files.
 * @param {{[part: string]: any}} said
 */
export const revealable = ({ text, files }) =>
  JSON.stringify(
    [typeof text === "string" ? text : "", ...filesSaid(files).map(({ name }) => name)].map((part) =>
      part.toWellFormed(),
    ),
  );

/**
 * Return {frank, commitment, shown}: the key, which goes into the message; the commitment for the server; and
 * the data that the message is bound to.
 * @param {Said} said
 */
export async function frankedFor(said) {
  const key = crypto.getRandomValues(new Uint8Array(KEY_BYTES));
  const commitment = await committed(key, said);
  return { frank: toBase64(key), commitment, shown: await digest(commitment) };
}

/** Return whether a recipient could report the message. @param {any} said @param {Uint8Array} shown */
export async function isFranked(said, shown) {
  return (
    isBytes(said?.frank) &&
    hexOf(await digest(await committed(fromBase64(said.frank), said))) === hexOf(shown)
  );
}

/** @param {Uint8Array} key @param {{[part: string]: any}} said */
async function committed(key, said) {
  const imported = await crypto.subtle.importKey(
    "raw",
    /** @type {BufferSource} */ (key),
    { name: "HMAC", hash: "SHA-256" },
    false,
    ["sign"],
  );
  return new Uint8Array(await crypto.subtle.sign("HMAC", imported, utf8(revealable(said))));
}

/** @param {Uint8Array} data */
const digest = async (data) =>
  new Uint8Array(await crypto.subtle.digest("SHA-256", /** @type {BufferSource} */ (data)));
