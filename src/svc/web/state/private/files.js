// Downloads and decrypts files in private conversations. Files up to 8 MiB are kept in this browser,
// encrypted like the messages, because the server deletes its copy together with the message. See
// docs/private.md.

/**
 * @import { Signal } from "../../vendor/signals.js"
 * @import { EncryptedFile } from "./file_encryption.js"
 *
 * @typedef {{state: "opening" | "open" | "failed", url: string, problem: string}} Opened
 */

import { download } from "../../transport/http.js";
import { explain, t } from "../../words/words.js";
import { opened } from "../private_conversations.js";
import { accessToken, api } from "../server.js";
import { ownIdentity } from "./own_identity.js";
import { kindOf, openFile, PLAIN_TYPE } from "./file_encryption.js";

const MAX_STORED_BYTES = 8 * 2 ** 20; // Larger files are downloaded again.
const NAME = (/** @type {string} */ id, /** @type {string} */ fileId) => `file/${id}/${fileId}`;
const PATH = (/** @type {string} */ id, /** @type {string} */ fileId) =>
  /** @type {const} */ (
    `/api/private/conversations/${encodeURIComponent(id)}/files/${encodeURIComponent(fileId)}`
  );

/**
 * Download a file if needed, decrypt it, and keep it in memory until the page is closed.
 * @param {string} id The conversation's id.
 * @param {EncryptedFile} file
 */
export async function openPrivateFile(id, file) {
  if (["opening", "open"].includes(opened.value.get(file.id)?.state ?? "")) return;
  put(file.id, { state: "opening", url: "", problem: "" });
  try {
    publishFile(file, await decryptedFile(id, file));
  } catch (/** @type {any} */ error) {
    const problem =
      error.code === "unknown_file" || error.code === "not_found"
        ? t("private-file-gone")
        : error.code
          ? explain(error)
          : t("private-file-broken");
    put(file.id, { state: "failed", url: "", problem });
  }
}

/**
 * Show and store a file that this browser is sending.
 * @param {string} id
 * @param {EncryptedFile} file
 * @param {Uint8Array<ArrayBuffer>} plain
 */
export async function storeOwnFile(id, file, plain) {
  publishFile(file, plain);
  await storeFile(id, file, plain);
}

/** Release a decrypted file that is no longer needed. @param {string} fileId */
export function releaseFile(fileId) {
  const url = opened.value.get(fileId)?.url;
  if (url) URL.revokeObjectURL(url);
  put(fileId, undefined);
}

/**
 * Delete one of our files on the server. Ignore errors, because the server may have already deleted it.
 * @param {string} id
 * @param {string} fileId
 */
export const deleteFile = (id, fileId) => api("DELETE", PATH(id, fileId)).catch(() => {});

/**
 * Return the names under which a message's files are stored.
 * @param {string} id
 * @param {{id: string}[]} files
 */
export const namesOf = (id, files) => files.map((file) => NAME(id, file.id));

/** @param {string} id @param {EncryptedFile} file */
async function decryptedFile(id, file) {
  const { store } = await ownIdentity();
  const before = await store.get(NAME(id, file.id));
  if (before) return before;
  const blob = await download(PATH(id, file.id), { token: await accessToken() });
  const plain = await openFile(await blob.arrayBuffer(), file);
  await storeFile(id, file, plain);
  return plain;
}

/** @param {string} id @param {EncryptedFile} file @param {Uint8Array} plain */
async function storeFile(id, file, plain) {
  const { store } = await ownIdentity();
  // If the disk is full, the file is downloaded again when needed, as long as the server has it.
  if (plain.length <= MAX_STORED_BYTES) await store.put([[NAME(id, file.id), plain]]).catch(() => {});
}

/**
 * Create a URL for a file. Keep the file's type only if it is one of a few that cannot run code.
 * @param {EncryptedFile} file
 * @param {Uint8Array<ArrayBuffer>} plain
 */
function publishFile({ id, type }, plain) {
  releaseFile(id);
  const blob = new Blob([plain], { type: kindOf(type) === "file" ? PLAIN_TYPE : type });
  put(id, { state: "open", url: URL.createObjectURL(blob), problem: "" });
}

/** @param {string} fileId @param {Opened | undefined} value */
function put(fileId, value) {
  const next = new Map(opened.value);
  if (value) next.set(fileId, value);
  else next.delete(fileId);
  opened.value = next;
}
