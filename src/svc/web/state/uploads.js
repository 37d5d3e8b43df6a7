// Uploads the files for a message. The server checks each file and pushes the result. The file can then be
// attached. An interrupted upload resumes when the server is reachable again, even after a reload. Spoiler
// files, which are covered until clicked, have the same name prefix as in other chat programs.

/**
 * @import { Upload } from "../types/api.js"
 * @import { PushArguments } from "../types/wire.js"
 * @import { Signal } from "../vendor/signals.js"
 * @import { KeptFile } from "./pending_uploads.js"
 */

import { Backoff, pause } from "../transport/backoff.js";
import { Refusal, Unreachable } from "../transport/http.js";
import { signal } from "../vendor/signals.js";
import { explain, t } from "../words/words.js";
import { firstPaint } from "./first_paint.js";
import { forgetFile, keepFile, keepUploadId, takeKeptFiles } from "./pending_uploads.js";
import { accessToken, api, listen } from "./server.js";
import { channelAndThreadOf } from "./channels.js";

const PREFIX = "SPOILER_";

/** @param {{name: string}} file */
export const isSpoiler = ({ name }) => name.startsWith(PREFIX);

/** Return the name without the spoiler prefix. @param {string} name */
export const shownName = (name) => (name.startsWith(PREFIX) && name.slice(PREFIX.length)) || name;

/** Add or remove the spoiler prefix of a file name. @param {string} name @param {boolean} on */
export const nameAs = (name, on) => (on ? PREFIX : "") + shownName(name);

const MAX_FILES = 10; // The maximum number of files in a message.
// The maximum number of attempts to delete an upload while the server is still reading its last piece.
const MAX_TRIES = 5;
// Errors in the file itself. Sending the file again would not help.
const LASTING = [
  "invalid_image",
  "invalid_video",
  "no_pictures",
  "too_large",
  "too_long",
  "unsupported_type",
  "upload_too_large",
];

/**
 * @typedef {{state: "sending" | "checking" | "done" | "refused", progress: number, waits: boolean, cut:
 *   boolean, lasts: boolean, problem: string, result: Upload["result"]}} How
 */
/** @type {How} */
const FRESH = {
  state: "sending",
  progress: 0,
  waits: false,
  cut: false,
  lasts: false,
  problem: "",
  result: null,
};

/**
 * One file: {key, file, name, state, progress, waits, cut, lasts, problem, id, result, alt, listKey}. `state`
 * is "sending", "checking", "done" or "refused". `waits` means that the upload is waiting for the connection,
 * `cut` that a lost connection has interrupted it, and `lasts` that the problem is in the file itself.
 * `listKey` stays the same when `key` changes.
 * @typedef {How & {key: string, file: File | null, name: string, id: string | null, alt: string, listKey?:
 *   string}} OneFile
 */
export class Uploads {
  /** @type {Signal<OneFile[]>} */
  list = signal([]);

  #key;
  /** @type {Map<string, AbortController>} */ #stops = new Map();
  /** @type {Map<string, string>} */ #words = new Map();

  /** @param {string} key */
  constructor(key) {
    this.#key = key;
  }

  /** Ids of the uploads that can be attached. */
  get ready() {
    return this.list.value
      .filter(({ state }) => state === "done")
      .map(({ id }) => /** @type {string} */ (id));
  }

  /** Whether an upload is still being sent or checked. */
  get pending() {
    return this.list.value.some(({ state }) => state === "sending" || state === "checking");
  }

  /** Upload these files. Return whether there was room for all of them. @param {FileList | File[]} files */
  add(files) {
    const taken = [...files].slice(0, MAX_FILES - this.list.value.length);
    for (const file of taken) this.#begin(file);
    return taken.length === files.length;
  }

  /** Retry a rejected file, or continue an interrupted upload. @param {string} key */
  retry(key) {
    const upload = this.#find(key);
    if (!upload?.file) return;
    this.#change(key, { ...FRESH, id: upload.cut ? upload.id : null });
    this.#send(key);
  }

  /** Cancel an upload, here and on the server. @param {string} key */
  cancel(key) {
    const upload = this.#find(key);
    this.#stops.get(key)?.abort();
    forgetFile(key);
    this.#drop(key);
    if (upload?.id) deleteUpload(upload.id);
  }

  /** Stop all transfers. */
  stop() {
    for (const stop of this.#stops.values()) stop.abort();
  }

  /** Set an image's description. @param {string} key @param {string} alt */
  async describe(key, alt) {
    const { id } = this.#known(key);
    await api("PUT", `/api/uploads/${id}/alt`, { alt });
    this.#change(key, { alt });
  }

  /**
   * Mark or unmark a file as a spoiler. The prefix is part of the name, so the file and its description are
   * sent again.
   * @param {string} key
   * @param {boolean} on
   */
  spoil(key, on) {
    const { file, id, alt, listKey = key } = this.#known(key);
    if (!file) return;
    this.#stops.get(key)?.abort();
    forgetFile(key);
    if (id) deleteUpload(id);
    const renamed = new File([file], nameAs(file.name, on), {
      type: file.type,
      lastModified: file.lastModified,
    });
    const other = crypto.randomUUID();
    if (alt) this.#words.set(other, alt);
    this.#change(key, { ...FRESH, key: other, listKey, file: renamed, name: renamed.name, id: null });
    keepFile(other, this.#key, renamed);
    this.#send(other);
  }

  /**
   * Remove and return these uploads, because they are now attached to a message.
   * @param {(string | null)[]} ids
   */
  attached(ids) {
    const taken = this.list.value.filter(({ id }) => ids.includes(id));
    for (const { key } of taken) forgetFile(key);
    this.list.value = this.list.value.filter(({ id }) => !ids.includes(id));
    return taken;
  }

  /** Restore the uploads of a draft. @param {string[]} ids */
  async restore(ids) {
    const missing = ids.filter((id) => !this.list.value.some((upload) => upload.id === id));
    for (const id of missing) {
      const stored = await api("GET", `/api/uploads/${id}`).catch(() => null);
      if (!stored) continue;
      /** @type {OneFile} */
      const upload = {
        ...FRESH,
        key: crypto.randomUUID(),
        file: null,
        name: stored.name,
        state: "checking",
        id,
        alt: stored.alt,
      };
      this.list.value = [...this.list.value, upload];
      this.#take(upload.key, stored);
    }
  }

  /** Continue an upload after a reload. @param {Omit<KeptFile, "conversationKey">} kept */
  async goOn({ key, file, id }) {
    if (this.list.value.some((upload) => upload.key === key || (id && upload.id === id))) return;
    this.#put(key, file, id);
    await this.#send(key);
    if (id && this.#find(key)?.state === "checking") this.#askOf(key, id);
  }

  /** @param {PushArguments} push */
  hear(...[event, data]) {
    const { upload_id: uploadId, id = uploadId } = /** @type {{upload_id?: string, id?: string}} */ (data);
    const upload = this.list.value.find((other) => other.id === id);
    if (upload) this.#hearOf(upload.key, .../** @type {PushArguments} */ ([event, data]));
  }

  /**
   * Continue interrupted uploads. Query the state of uploads that are being checked, because their pushes may
   * have been missed.
   */
  async ask() {
    for (const { key, cut } of this.list.value) if (cut) this.retry(key);
    for (const { key, id, state } of this.list.value)
      if (id && state === "checking") await this.#askOf(key, id);
  }

  /** @param {string} key @param {string} id */
  async #askOf(key, id) {
    try {
      this.#take(key, await api("GET", `/api/uploads/${id}`));
    } catch (error) {
      if (error instanceof Refusal && !error.passes) this.#refuse(key, error);
    }
  }

  /** @param {File} file */
  #begin(file) {
    const key = crypto.randomUUID();
    this.#put(key, file);
    keepFile(key, this.#key, file);
    this.#send(key);
  }

  /** @param {string} key @param {File} file @param {string | null} [id] */
  #put(key, file, id = null) {
    this.list.value = [...this.list.value, { ...FRESH, key, file, name: file.name, id, alt: "" }];
  }

  /** @param {string} key */
  async #send(key) {
    const stop = new AbortController();
    this.#stops.set(key, stop);
    const { file, id } = this.#known(key);
    if (!file) return;
    try {
      const { sendFile } = await import("../transport/upload.js").catch(() => {
        throw new Unreachable();
      });
      await sendFile(
        `/api/channels/${encodeURIComponent(channelAndThreadOf(this.#key).channelId)}/uploads`,
        file,
        {
          id: id ?? "",
          token: accessToken,
          signal: stop.signal,
          begun: (given) => {
            this.#change(key, { id: given });
            keepUploadId(key, given);
          },
          progressed: (progress) => this.#change(key, { progress, waits: false }),
          waits: () => this.#change(key, { waits: true }),
        },
      );
      // A push may already have reported the result.
      if (this.#find(key)?.state === "sending")
        this.#change(key, { state: "checking", progress: 0, waits: false });
    } catch (/** @type {any} */ error) {
      const cut = error.code === "unreachable";
      if (!cut && !stop.signal.aborted) forgetFile(key);
      this.#change(key, {
        state: "refused",
        problem: cut ? t("upload-cut-off") : explain(error),
        cut,
        lasts: LASTING.includes(error.code),
      });
    }
    this.#stops.delete(key);
  }

  /** @param {string} key @param {Pick<Upload, "id" | "state" | "result" | "refusal">} stored */
  #take(key, { id, state, result, refusal }) {
    if (state === "done") this.#end(key, id, result);
    else if (state === "refused") this.#refuse(key, /** @type {NonNullable<typeof refusal>} */ (refusal), id);
    else this.#change(key, { id, state: "checking", progress: 0 });
  }

  /** @param {string} key @param {string} id @param {Upload["result"]} result */
  async #end(key, id, result) {
    const words = this.#words.get(key);
    if (words) {
      this.#change(key, { id });
      await this.describe(key, words).catch(() => {});
      this.#words.delete(key);
    }
    this.#change(key, { id, state: "done", result });
    // The server now keeps the upload in the channel's draft. It does not store drafts for threads.
    if (!channelAndThreadOf(this.#key).thread) forgetFile(key);
  }

  /** @param {string} key @param {PushArguments} push */
  #hearOf(key, ...[event, data]) {
    if (event === "upload_progress") this.#change(key, { progress: data.progress });
    else if (event === "upload_done") this.#take(key, data);
    else if (event === "upload_refused") this.#refuse(key, data);
  }

  /** @param {string} key @param {{code: string, message: string}} refusal @param {string | null} [id] */
  #refuse(key, refusal, id = null) {
    forgetFile(key);
    this.#change(key, {
      state: "refused",
      problem: explain(refusal),
      lasts: LASTING.includes(refusal.code),
      ...(id && { id }),
    });
  }

  /** @param {string} key */
  #known(key) {
    return /** @type {OneFile} */ (this.#find(key));
  }

  /** @param {string} key */
  #find(key) {
    return this.list.value.find((upload) => upload.key === key);
  }

  /** @param {string} key */
  #drop(key) {
    this.list.value = this.list.value.filter((upload) => upload.key !== key);
  }

  /** @param {string} key @param {Partial<OneFile>} changes */
  #change(key, changes) {
    this.list.value = this.list.value.map((upload) =>
      upload.key === key ? { ...upload, ...changes } : upload,
    );
  }
}

/**
 * Delete an upload on the server. If this fails, the server deletes it after a day.
 * @param {string} id
 */
async function deleteUpload(id) {
  const backoff = new Backoff(500, 4000);
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const error = await api("DELETE", `/api/uploads/${id}`).catch((refusal) => refusal);
    if (error?.code !== "upload_busy") return;
    await pause(backoff.next());
  }
}

/** @type {Map<string, Uploads>} */
const byKey = new Map();

/** Return the uploads for the message being written in this conversation. @param {string} key */
export function uploadsOf(key) {
  const uploads = byKey.get(key) ?? new Uploads(key);
  byKey.set(key, uploads);
  return uploads;
}

/** Return whether any upload is in progress. */
export const anyPending = () => [...byKey.values()].some(({ pending }) => pending);

let looked = false;

const resumeUploads = () =>
  takeKeptFiles(({ conversationKey, ...stored }) => uploadsOf(conversationKey).goOn(stored)).catch(() => {});

listen({
  onGreeting() {
    for (const uploads of byKey.values()) uploads.ask();
    if (!looked) firstPaint.then(resumeUploads);
    looked = true;
  },
  onResumption() {
    for (const uploads of byKey.values()) uploads.ask();
  },
  onPush(...push) {
    if (push[0].startsWith("upload_")) for (const uploads of byKey.values()) uploads.hear(...push);
  },
  onSignOut() {
    for (const uploads of byKey.values()) uploads.stop();
    byKey.clear();
  },
});
