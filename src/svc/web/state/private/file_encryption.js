// Encrypts and decrypts files in private conversations. Each file has its own key (AES-256-GCM). The message
// contains the key and the digest of the encrypted file. See docs/private.md.

/**
 * The description of a file in a message.
 * @typedef {{id: string, key: string, digest: string, name: string, type: string, bytes: number, alt: string,
 *   width: number | null, height: number | null}} EncryptedFile
 */

import { fromBase64, toBase64 } from "./mls.js";

export const MAX_FILES = 10; // The maximum number of files in a message, as in channels.
export const MAX_BYTES = 32 * 2 ** 20 - 16; // The maximum size of a file, excluding the authentication tag.
const CIPHER = "AES-GCM";
const KEY_BYTES = 32;
// Each key encrypts only one file, so a constant IV is safe.
const IV = new Uint8Array(12);
const MAX_LENGTHS = { id: 64, name: 100, type: 100, alt: 1000 };
const WIDEST = 16_384;
// Types that the browser decodes as declared, whatever the content is. All other files can only be saved.
const KINDS = /** @type {const} */ ({
  picture: ["image/png", "image/jpeg", "image/gif", "image/webp", "image/avif"],
  video: ["video/mp4", "video/webm"],
  audio: ["audio/mpeg", "audio/mp4", "audio/ogg", "audio/wav", "audio/webm", "audio/flac", "audio/aac"],
});
export const PLAIN_TYPE = "application/octet-stream";

/** Return "picture", "video", "audio" or "file". @param {string} type */
export const kindOf = (type) =>
  /** @type {[keyof typeof KINDS, readonly string[]][]} */ (Object.entries(KINDS)).find(([, types]) =>
    types.includes(type),
  )?.[0] ?? "file";

/**
 * Encrypt a file. Return {data, key, digest}: the data for the server, and the two fields for the message.
 * @param {Uint8Array<ArrayBuffer>} plain
 * @param {Uint8Array<ArrayBuffer>} secret A key that is used only for this file.
 */
export async function sealFile(plain, secret = crypto.getRandomValues(new Uint8Array(KEY_BYTES))) {
  const key = await crypto.subtle.importKey("raw", secret, CIPHER, false, ["encrypt"]);
  const data = await crypto.subtle.encrypt({ name: CIPHER, iv: IV }, key, plain);
  return { data, key: toBase64(secret), digest: await digestOf(data) };
}

/**
 * Decrypt a file. Rejects if the data does not match the message's description.
 * @param {ArrayBuffer} data
 * @param {Pick<EncryptedFile, "key" | "digest" | "bytes">} file
 */
export async function openFile(data, { key: secret, digest, bytes }) {
  if ((await digestOf(data)) !== digest)
    throw new TypeError("it is not the file of which the message speaks");
  const key = await crypto.subtle.importKey("raw", fromBase64(secret), CIPHER, false, ["decrypt"]);
  const plain = new Uint8Array(await crypto.subtle.decrypt({ name: CIPHER, iv: IV }, key, data));
  if (plain.length !== bytes) throw new TypeError("it has another length than the message says");
  return plain;
}

/** @param {ArrayBuffer} data */
const digestOf = async (data) => toBase64(new Uint8Array(await crypto.subtle.digest("SHA-256", data)));

/**
 * Return the valid file descriptions in a message from another device, at most ten.
 * @param {unknown} files
 * @returns {EncryptedFile[]}
 */
export function encryptedFilesIn(files) {
  if (!Array.isArray(files)) return [];
  return files.slice(0, MAX_FILES).flatMap((file) => {
    const {
      id,
      key,
      digest,
      name,
      type = PLAIN_TYPE,
      bytes,
      alt = "",
      width = null,
      height = null,
    } = file ?? {};
    const texts =
      isShort(id, MAX_LENGTHS.id) &&
      id &&
      isShort(name, MAX_LENGTHS.name) &&
      isShort(type, MAX_LENGTHS.type) &&
      isShort(alt, MAX_LENGTHS.alt);
    if (
      !texts ||
      !isBytes(key) ||
      !isBytes(digest) ||
      !(Number.isInteger(bytes) && bytes > 0 && bytes <= MAX_BYTES)
    )
      return [];
    const sized = [width, height].every((side) => Number.isInteger(side) && side > 0 && side <= WIDEST);
    return [
      {
        id,
        key,
        digest,
        name: readableName(name),
        type,
        bytes,
        alt,
        width: sized ? width : null,
        height: sized ? height : null,
      },
    ];
  });
}

/**
 * Remove from a name all characters that reverse text or pad it invisibly. The server cannot remove them,
 * because the name is encrypted.
 * @param {string} name
 */
const readableName = (name) =>
  name
    .replace(/[\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]/gu, "")
    .replace(/[\s\u2800\u3164\uffa0]+/gu, " ")
    .trim();

/** @param {unknown} text @param {number} limit */
const isShort = (text, limit) => typeof text === "string" && text.length <= limit;
/** Return whether a value is a base64 string of 32 bytes. @param {unknown} text */
export const isBytes = (text) => typeof text === "string" && /^[A-Za-z0-9+/]{43}=$/u.test(text);
