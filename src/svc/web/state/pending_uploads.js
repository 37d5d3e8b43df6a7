// Keeps a copy in this browser of each file that is being uploaded, until the server has stored the file
// permanently, so that a reload loses no files. A file belongs to the tab that sends it.

/** @typedef {{key: string, conversationKey: string, file: File, id: string | null}} KeptFile */

import { withLock } from "../transport/browser_storage.js";
import { deleteCopy, saveCopy, loadCopy, names } from "../transport/offline_copy.js";

// The prefix of a file's key in the store. The value is {spot, file, at_ms}. Once the upload has an id, a
// separate entry stores it.
const FILE = "file ";
const ID = "file-id ";
const GOOD_MS = 24 * 3600_000; // The server deletes an unfinished upload after a day.

/** @type {Map<string, () => void>} */
const lettingGo = new Map();

/**
 * Store this file and lock it for this tab.
 * @param {string} key
 * @param {string} conversationKey
 * @param {File} file
 */
export function keepFile(key, conversationKey, file) {
  withLock(FILE + key, () => hold(key));
  // If the disk is full or storage is forbidden, send the file anyway.
  saveCopy(FILE + key, { spot: conversationKey, file, at_ms: Date.now() }).catch(() => {});
}

/** @param {string} key @param {string} id */
export const keepUploadId = (key, id) => saveCopy(ID + key, id).catch(() => {});

/** Delete a file that the server has stored or that is no longer needed. @param {string} key */
export function forgetFile(key) {
  lettingGo.get(key)?.();
  for (const name of [FILE + key, ID + key]) deleteCopy(name).catch(() => {});
}

/**
 * Call `take` with each stored file that no tab is sending. Its `id` is null if the upload has not begun.
 * @param {(file: KeptFile) => void} take
 */
export async function takeKeptFiles(take, now = Date.now()) {
  const keys = (await names())
    .map(String)
    .filter((name) => name.startsWith(FILE))
    .map((name) => name.slice(FILE.length));
  for (const key of keys) {
    withLock(
      FILE + key,
      async (lock) => {
        if (!lock) return undefined;
        const [copy, id] = await Promise.all([loadCopy(FILE + key), loadCopy(ID + key)]);
        if (!copy) return undefined;
        if (copy.at_ms < now - GOOD_MS) return forgetFile(key);
        take({ key, conversationKey: copy.spot, file: copy.file, id: id ?? null });
        return hold(key);
      },
      { ifAvailable: true },
    ).catch(() => {});
  }
}

/** @param {string} key */
const hold = (key) =>
  /** @type {Promise<void>} */ (
    new Promise((resolve) => {
      lettingGo.set(key, resolve);
    })
  ).then(() => lettingGo.delete(key));
