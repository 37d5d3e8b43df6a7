// Files on their way, kept in this browser until the server holds them for good, so that a reload loses none. Each
// belongs to the tab that sends it.

/** @typedef {{key: string, spot: string, file: File, id: string | null}} KeptFile */

import { inTurn } from "../transport/kept.js";
import { drop, keep, kept, names } from "../transport/read_last.js";

const FILE = "file "; // And a key: {spot, file, at_ms}. Beside it, once there is one, the id of the upload.
const ID = "file-id ";
const GOOD_MS = 24 * 3600_000; // The server forgets what it has of an upload after a day.

/** @type {Map<string, () => void>} */
const lettingGo = new Map();

/** Keep this file, and hold it in this tab. @param {string} key @param {string} spot @param {File} file */
export function keepFile(key, spot, file) {
  inTurn(FILE + key, () => hold(key));
  // Where the disk is full, or nothing may be kept, the file is sent all the same.
  keep(FILE + key, { spot, file, at_ms: Date.now() }).catch(() => {});
}

/** @param {string} key @param {string} id */
export const keepUploadId = (key, id) => keep(ID + key, id).catch(() => {});

/** It is safe elsewhere, or not wanted any more. @param {string} key */
export function forgetFile(key) {
  lettingGo.get(key)?.();
  for (const name of [FILE + key, ID + key]) drop(name).catch(() => {});
}

/** Hand those that no tab sends to `take({key, spot, file, id})`; `id` is null where nothing has begun. @param {(file: KeptFile) => void} take */
export async function takeKeptFiles(take, now = Date.now()) {
  const keys = (await names()).map(String).filter((name) => name.startsWith(FILE)).map((name) => name.slice(FILE.length));
  for (const key of keys) {
    inTurn(FILE + key, async (lock) => {
      if (!lock) return undefined;
      const [found, id] = await Promise.all([kept(FILE + key), kept(ID + key)]);
      if (!found) return undefined;
      if (found.at_ms < now - GOOD_MS) return forgetFile(key);
      take({ key, spot: found.spot, file: found.file, id: id ?? null });
      return hold(key);
    }, { ifAvailable: true }).catch(() => {});
  }
}

/** @param {string} key */
const hold = (key) => /** @type {Promise<void>} */ (new Promise((resolve) => { lettingGo.set(key, resolve); })).then(() => lettingGo.delete(key));
