// Uploads a file in pieces (tus 1.0.0, see docs/http.md). If the connection is lost, continues from the
// offset that the server reports. Uses XMLHttpRequest, because fetch does not report upload progress.
// Stateless.

/** @import { ResponseBody, Path } from "../types/wire.js" */

import { Backoff, pause } from "./backoff.js";
import { Refusal, Unreachable } from "./http.js";

const VERSION = "1.0.0";
const PIECE_BYTES = 8 * 2 ** 20; // Proxies limit the size of a request.
const SILENCE_MS = 30_000; // A connection that makes no progress for this long is considered dead.
// After this many consecutive attempts without progress (about a minute), the member decides whether to
// retry.
const MAX_TRIES = 6;
// Temporary errors, which occur until the server notices that the previous connection was lost.
const PASSING = ["offset_mismatch", "upload_busy", "upload_cut_short", "unknown_upload"];

/**
 * The parts of a request other than its URL.
 * @typedef {{headers?: Record<string, string | number>, body?: Blob, progressed?: (bytes: number) => void}}
 *   Sent
 * @typedef {(method: string, path: string, sent?: Sent) => Promise<XMLHttpRequest>} Ask
 */

/**
 * Upload a file. Resolves with the upload's id; rejects with Refusal or Unreachable. To continue an upload,
 * pass its `id`.
 * @param {Path<"POST">} path @param {File} file
 * @param {{token: () => Promise<string>, id?: string, fields?: Record<string, string>, signal?: AbortSignal,
 *   begun?: (id: string) => void, progressed?: (share: number) => void, waits?: () => void}} options
 */
export async function sendFile(
  path,
  file,
  { token, id = "", fields = {}, begun = () => {}, progressed = () => {}, waits = () => {}, signal },
) {
  const backoff = new Backoff(1000, 20_000);
  /** @type {Ask} */
  const ask = async (method, where, more) =>
    answered(method, where, { token: await token(), signal, ...more });
  /** @type {[number | null, number, number]} */
  let [at, furthest, tries] = [id ? null : 0, 0, 0]; // `at` is the offset; null if it must be queried.
  for (;;) {
    try {
      if (!id) begun((id = await create(ask, path, file, fields)));
      at ??= Number((await ask("HEAD", address(id))).getResponseHeader("Upload-Offset"));
      if (at > furthest) [furthest, tries] = [at, 0];
      if (at >= file.size) return id;
      const piece = file.slice(at, at + PIECE_BYTES);
      const from = at;
      const headers = { "Content-Type": "application/offset+octet-stream", "Upload-Offset": from };
      await ask("PATCH", address(id), {
        headers,
        body: piece,
        progressed: (bytes) => progressed((from + bytes) / file.size),
      });
      at += piece.size;
      backoff.reset();
    } catch (/** @type {any} */ error) {
      if (signal?.aborted || !passes(error) || ++tries > MAX_TRIES) throw error;
      at = null;
      if (error.code === "unknown_upload") [id, at] = ["", 0]; // The server has deleted the upload.
      waits();
      await pause(error.details?.retry_after_ms ?? backoff.next(), signal);
    }
  }
}

/**
 * Send the body in one request. Retry if the connection is lost or the server is busy. Resolves with the
 * response.
 * @template {Path<"POST">} P
 * @param {P} path @param {Blob} body
 * @param {{token: () => Promise<string>, progressed?: (bytes: number) => void, waits?: () => void, signal?:
 *   AbortSignal}} options
 * @returns {Promise<ResponseBody<"POST", P>>}
 */
export async function sendWhole(path, body, { token, progressed, waits = () => {}, signal }) {
  const backoff = new Backoff(1000, 20_000);
  for (let tries = 1; ; tries += 1) {
    try {
      return (
        await answered("POST", path, {
          headers: { "Content-Type": body.type },
          body,
          token: await token(),
          progressed,
          signal,
        })
      ).response;
    } catch (/** @type {any} */ error) {
      if (signal?.aborted || tries > MAX_TRIES || !(error instanceof Unreachable || error.passes))
        throw error;
      waits();
      await pause(error.details?.retry_after_ms ?? backoff.next(), signal);
    }
  }
}

const address = (/** @type {string} */ id) => `/api/uploads/${id}`;
const passes = (/** @type {unknown} */ error) =>
  error instanceof Unreachable ||
  (error instanceof Refusal && (error.passes || PASSING.includes(error.code)));

/**
 * Create an upload. Resolves with its id.
 * @param {Ask} ask
 * @param {string} path
 * @param {File} file
 * @param {Record<string, string>} fields
 * @returns {Promise<string>}
 */
async function create(ask, path, file, fields) {
  const metadata = Object.entries({ filename: file.name, ...fields }).map(
    ([name, text]) => `${name} ${base64(text)}`,
  );
  const answer = await ask("POST", path, {
    headers: { "Upload-Length": file.size, "Upload-Metadata": metadata.join(",") },
  });
  return `${answer.getResponseHeader("Location")}`.split("/").at(-1) ?? "";
}

/**
 * Send a request. Resolves with the XMLHttpRequest after a successful response.
 * @param {string} method @param {string} path @param {Sent & {token: string, signal?: AbortSignal}} sent
 *   @returns {Promise<XMLHttpRequest>}
 */
function answered(method, path, { token, headers = {}, body, progressed = () => {}, signal }) {
  const request = new XMLHttpRequest();
  request.open(method, path);
  request.responseType = "json";
  const all = { ...headers, Authorization: `Bearer ${token}`, "Tus-Resumable": VERSION };
  for (const [name, value] of Object.entries(all)) request.setRequestHeader(name, String(value));
  let timer = 0;
  const stop = () => request.abort();
  const moves = () => {
    clearTimeout(timer);
    timer = setTimeout(stop, SILENCE_MS);
  };
  request.upload.addEventListener("progress", ({ loaded }) => {
    moves();
    progressed(loaded);
  });
  signal?.addEventListener("abort", stop);
  return new Promise((resolve, reject) => {
    request.addEventListener("load", () => {
      if (request.status < 300) resolve(request);
      else
        reject(
          new Refusal(
            request.response ?? { error: request.status === 404 ? "unknown_upload" : "internal_error" },
            request.status,
          ),
        );
    });
    for (const end of ["error", "abort", "timeout"])
      request.addEventListener(end, () => reject(new Unreachable()));
    request.addEventListener("loadend", () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", stop);
    });
    moves();
    if (signal?.aborted) reject(new Unreachable());
    else request.send(body);
  });
}

/** Encode a string in UTF-8 and base64 (RFC 4648 section 4). @param {string} text */
const base64 = (text) =>
  btoa(Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join(""));
