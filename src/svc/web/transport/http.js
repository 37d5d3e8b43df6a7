// Sends requests to the chat server's HTTP API, and turns error responses into exceptions. Stateless.

/** @import { ResponseBody, Body, Method, Path, ErrorBody } from "../types/wire.js" */

// Limits for automatic retries. A rate limit error contains the time to wait. If one wait exceeds
// MAX_WAIT_MS, or all waits of a request exceed PATIENCE_MS, the member decides. One wait is often not
// enough, because other requests from the page use up the allowance in the meantime.
const [MIN_WAIT_MS, MAX_WAIT_MS, PATIENCE_MS] = [200, 3_000, 6_000];
// The timeouts for a response, and for sending a large request body.
const [DEADLINE_MS, SENDING_DEADLINE_MS] = [60_000, 600_000];

/** An error response from the server. `code` is for programs, and `message` is for display. */
export class Refusal extends Error {
  /** @param {ErrorBody} body */
  constructor(body, status = 0) {
    super(body.message || body.error);
    this.code = body.error;
    this.status = status;
    /** The other fields of the response, such as `retry_after_ms` or `limit`. */
    this.details = body;
  }

  /** Whether the same request may succeed if it is retried soon. */
  get passes() {
    return (
      this.status >= 500 ||
      this.status === 429 ||
      this.code === "challenge_invalid" ||
      this.code === "server_stopping"
    );
  }
}

/** The error for a server that cannot be reached, or a connection that breaks before the response. */
export class Unreachable extends Error {
  code = "unreachable";
}

/**
 * Send a request. Resolves with the response, which is null for 204; rejects with Refusal or Unreachable.
 * @template {Method} M @template {Path<M>} P
 * @param {M} method @param {P} path
 * @param {{token?: string, body?: Body<M, P>, signal?: AbortSignal, deadlineMs?: number}} options `body` is
 *   sent as JSON, except that a Blob is sent unchanged.
 * @returns {Promise<ResponseBody<M, P>>}
 */
export function request(method, path, { token, body, signal, deadlineMs } = {}) {
  /** @type {Record<string, string>} */
  const headers = {};
  if (token) headers.Authorization = `Bearer ${token}`;
  const raw = body instanceof Blob;
  if (body !== undefined) headers["Content-Type"] = raw ? body.type : "application/json";
  const options = {
    method,
    headers,
    body: raw || body === undefined ? /** @type {Blob | undefined} */ (body) : JSON.stringify(body),
  };
  return answered(
    path,
    options,
    PATIENCE_MS,
    deadlineMs ?? (raw ? SENDING_DEADLINE_MS : DEADLINE_MS),
    signal,
  );
}

/**
 * Send a request without a token.
 * @template {Path<"POST">} P
 * @param {P} path @param {Body<"POST", P>} body @param {number} [deadlineMs] The timeout for a response.
 * @returns {Promise<ResponseBody<"POST", P>>}
 */
export function post(path, body, deadlineMs) {
  // Only the signature above is type-checked. Checking the call below too would double TypeScript's run time.
  const send = /** @type {(method: "POST", path: P, options: object) => Promise<any>} */ (
    /** @type {unknown} */ (request)
  );
  return send("POST", path, { body, deadlineMs });
}

/**
 * @param {string} path
 * @param {RequestInit} options
 * @param {number} patienceMs
 * @param {number} deadlineMs
 * @param {AbortSignal} [signal]
 */
async function answered(path, options, patienceMs, deadlineMs, signal) {
  let response;
  let answer;
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), deadlineMs);
  try {
    response = await fetch(path, {
      ...options,
      signal: signal ? AbortSignal.any([signal, late.signal]) : late.signal,
    });
    answer = response.status === 204 ? null : await response.json();
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Unreachable();
  } finally {
    clearTimeout(timer);
  }
  if (response.ok) return answer;
  const waitMs = response.status === 429 ? Math.max(MIN_WAIT_MS, answer.retry_after_ms) : NaN;
  if (!(waitMs <= Math.min(MAX_WAIT_MS, patienceMs))) throw new Refusal(answer, response.status);
  await new Promise((resolve) => {
    setTimeout(resolve, waitMs);
  });
  return answered(path, options, patienceMs - waitMs, deadlineMs, signal);
}

/**
 * Download a file. Resolves with a Blob, which the browser can store on disk. Rejects with the same errors as
 * `request`.
 * @param {Path<"GET">} path
 * @param {{token: string, progressed?: (bytes: number) => void, signal?: AbortSignal}} options
 */
export async function download(path, { token, progressed = () => {}, signal }) {
  let response;
  try {
    response = await fetch(path, { headers: { Authorization: `Bearer ${token}` }, signal });
    if (!response.ok) throw new Refusal(await response.json(), response.status);
    let bytes = 0;
    const counted = new TransformStream({
      transform(piece, controller) {
        bytes += piece.byteLength;
        progressed(bytes);
        controller.enqueue(piece);
      },
    });
    return await new Response(response.body?.pipeThrough(counted), { headers: response.headers }).blob();
  } catch (error) {
    if (error instanceof Refusal || signal?.aborted) throw error;
    throw new Unreachable();
  }
}
