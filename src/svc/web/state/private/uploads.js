// Uploads the files for a private message. Each file is encrypted in this browser before it is sent. Neither
// drafts nor their files are stored. Implements the interface that views/composer/upload_list.js requires.
// See docs/private.md.

/**
 * @import { Signal } from "../../vendor/signals.js"
 * @import { EncryptedFile } from "./file_encryption.js"
 *
 * @typedef {{blob: Blob, width: number | null, height: number | null}} Prepared
 * @typedef {{key: string, file: File, name: string, state: "sending" | "done" | "refused", progress: number,
 *   waits: boolean, lasts: boolean, problem: string,
 *   result: {kind: string} | null, descriptor: EncryptedFile | null, alt: string}} OneFile
 */

import { sendWhole } from "../../transport/upload.js";
import { signal } from "../../vendor/signals.js";
import { explain, t } from "../../words/words.js";
import { nameAs } from "../uploads.js";
import { accessToken } from "../server.js";
import { releaseFile, deleteFile, storeOwnFile } from "./files.js";
import { kindOf, MAX_BYTES, MAX_FILES, PLAIN_TYPE, sealFile } from "./file_encryption.js";

const MAX_NAME_LENGTH = 100;

export class PrivateUploads {
  /** @type {Signal<OneFile[]>} */
  list = signal([]);

  #id;
  #prepare;
  /** @type {Map<string, AbortController>} */ #stops = new Map();

  /**
   * @param {string} id The conversation's id.
   * @param {(file: File) => Promise<Prepared>} prepare Returns the file to send.
   */
  constructor(id, prepare) {
    this.#id = id;
    this.#prepare = prepare;
  }

  /** The descriptions of the uploaded files, for the message. */
  get ready() {
    return this.list.value.flatMap(({ descriptor, name, alt }) =>
      descriptor ? [{ ...descriptor, name: name.slice(-MAX_NAME_LENGTH), alt }] : [],
    );
  }

  /** Whether an upload is in progress. */
  get pending() {
    return this.list.value.some(({ state }) => state === "sending");
  }

  /** Upload these files. Return whether there was room for all of them. @param {File[]} files */
  add(files) {
    const taken = files.slice(0, MAX_FILES - this.list.value.length);
    for (const file of taken) {
      const key = crypto.randomUUID();
      this.list.value = [
        ...this.list.value,
        {
          key,
          file,
          name: file.name,
          state: "sending",
          progress: 0,
          waits: false,
          lasts: false,
          problem: "",
          result: null,
          descriptor: null,
          alt: "",
        },
      ];
      this.#send(key);
    }
    return taken.length === files.length;
  }

  /** @param {string} key */
  retry(key) {
    this.#change(key, { state: "sending", progress: 0, waits: false, problem: "" });
    this.#send(key);
  }

  /** Cancel an upload, here and on the server. @param {string} key */
  cancel(key) {
    const descriptor = this.#find(key)?.descriptor;
    this.#stops.get(key)?.abort();
    this.list.value = this.list.value.filter((upload) => upload.key !== key);
    if (!descriptor) return;
    releaseFile(descriptor.id);
    deleteFile(this.#id, descriptor.id);
  }

  /** Set an image's description, which is sent with the message. @param {string} key @param {string} alt */
  async describe(key, alt) {
    this.#change(key, { alt });
  }

  /** @param {string} key @param {boolean} on */
  spoil(key, on) {
    this.#change(key, { name: nameAs(/** @type {OneFile} */ (this.#find(key)).name, on) });
  }

  /** Remove the finished uploads, because a message now contains them. */
  sent() {
    this.list.value = this.list.value.filter(({ descriptor }) => !descriptor);
  }

  /** @param {string} key */
  async #send(key) {
    const stop = new AbortController();
    this.#stops.set(key, stop);
    try {
      const { file } = /** @type {OneFile} */ (this.#find(key));
      const { blob, width, height } = await this.#prepare(file);
      if (!blob.size || blob.size > MAX_BYTES)
        throw Object.assign(new Error(t("private-file-too-large")), { lasts: true });
      const plain = new Uint8Array(await blob.arrayBuffer());
      const { data, ...sealed } = await sealFile(plain);
      const path = /** @type {const} */ (`/api/private/conversations/${encodeURIComponent(this.#id)}/files`);
      const progressed = (/** @type {number} */ bytes) =>
        this.#change(key, { progress: bytes / data.byteLength, waits: false });
      const waits = () => this.#change(key, { progress: 0, waits: true });
      const { file_id: id } = await sendWhole(path, new Blob([data], { type: PLAIN_TYPE }), {
        token: accessToken,
        progressed,
        waits,
        signal: stop.signal,
      });
      const descriptor = {
        id,
        ...sealed,
        name: file.name,
        type: blob.type || PLAIN_TYPE,
        bytes: plain.length,
        alt: "",
        width,
        height,
      };
      await storeOwnFile(this.#id, descriptor, plain);
      if (this.#find(key))
        this.#change(key, { state: "done", descriptor, result: { kind: kindOf(descriptor.type) } });
      else deleteFile(this.#id, id);
    } catch (/** @type {any} */ error) {
      this.#change(key, {
        state: "refused",
        lasts: Boolean(error.lasts),
        problem:
          error.code === "unreachable" ? t("upload-cut-off") : error.code ? explain(error) : error.message,
      });
    }
    this.#stops.delete(key);
  }

  /** @param {string} key */
  #find(key) {
    return this.list.value.find((upload) => upload.key === key);
  }

  /** @param {string} key @param {Partial<OneFile>} changes */
  #change(key, changes) {
    this.list.value = this.list.value.map((upload) =>
      upload.key === key ? { ...upload, ...changes } : upload,
    );
  }
}
