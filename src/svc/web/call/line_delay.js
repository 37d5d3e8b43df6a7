// Measure how long packets queue on their way to us. Browsers report when a voice is played and how long it
// was buffered, and so when it arrived. The difference from its RTP timestamp, the time of capture, grows
// with the queueing delay. Sans I/O.

const KEPT_S = 30; // The minimum of this period is taken as the empty line's delay.
const PIECE_S = 5;
const OTHER_SOURCE_MS = 10_000; // A restarted sender has other timestamps.

/**
 * @typedef {{rtp: number, last: number, sum: number, count: number, pieces: Map<number, number>}} Source
 *   `last` is a difference, `sum` the sum of `count` differences since `take`; `pieces` has the least arrival
 *   by time.
 */

export class LineDelay {
  /** @type {Map<string, Source>} */
  #sources = new Map();

  /**
   * Note that the sample captured at `rtpTimestamp` is played at `atMs`.
   * @param {string} key
   * @param {number} atMs
   * @param {number} rtpTimestamp
   * @param {number} clockRate
   */
  note(key, atMs, rtpTimestamp, clockRate) {
    let source = this.#sources.get(key);
    if (source?.rtp === rtpTimestamp) return;
    const wrapMs = (2 ** 32 * 1000) / clockRate;
    let difference = atMs - (rtpTimestamp * 1000) / clockRate;
    if (source) difference += Math.round((source.last - difference) / wrapMs) * wrapMs;
    if (!source || Math.abs(difference - source.last) > OTHER_SOURCE_MS)
      source = { rtp: 0, last: 0, sum: 0, count: 0, pieces: new Map() };
    Object.assign(source, {
      rtp: rtpTimestamp,
      last: difference,
      sum: source.sum + difference,
      count: source.count + 1,
    });
    this.#sources.set(key, source);
  }

  /**
   * Return how long packets have queued since the last call, or null if no source shows it. A queue on our
   * own line delays every source, so the source with the smallest delay counts. `heldMs` is how long each
   * source was buffered before playout.
   * @param {Map<string, number>} heldMs @param {number} nowMs
   */
  take(heldMs, nowMs) {
    const piece = Math.floor(nowMs / 1000 / PIECE_S);
    let least = Infinity;
    for (const [key, source] of this.#sources) {
      const held = heldMs.get(key);
      if (held === undefined) this.#sources.delete(key);
      else if (source.count) {
        const arrival = source.sum / source.count - held;
        source.pieces.set(piece, Math.min(arrival, source.pieces.get(piece) ?? Infinity));
        for (const old of source.pieces.keys()) if (old < piece - KEPT_S / PIECE_S) source.pieces.delete(old);
        least = Math.min(least, arrival - Math.min(...source.pieces.values()));
      }
      source.sum = source.count = 0;
    }
    return least < Infinity ? least : null;
  }
}
