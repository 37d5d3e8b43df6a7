// Computes the delays between attempts. They double up to a limit, with jitter that keeps many clients from
// reconnecting at the same time.

export class Backoff {
  #firstMs;
  #limitMs;
  #nextMs;

  /** @param {number} firstMs @param {number} limitMs */
  constructor(firstMs, limitMs) {
    this.#firstMs = firstMs;
    this.#limitMs = limitMs;
    this.#nextMs = firstMs;
  }

  /** Return the time to wait before the next attempt, in ms: between half of the step and the full step. */
  next() {
    const step = this.#nextMs;
    this.#nextMs = Math.min(step * 2, this.#limitMs);
    return step * (0.5 + Math.random() / 2);
  }

  reset() {
    this.#nextMs = this.#firstMs;
  }
}

/**
 * Resolve after `ms`, or as soon as `signal` is aborted.
 * @param {number} ms @param {AbortSignal | null} [signal] @returns {Promise<void>}
 */
export function pause(ms, signal = null) {
  if (signal?.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms);
    signal?.addEventListener("abort", done, { once: true });
    function done() {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    }
  });
}
