// Chooses how long each microphone's audio is buffered before it is played. Lost audio is recovered from the
// next packet (FEC), or by a retransmission one round trip later. The browser keeps its own buffer short
// while no packet is late, and hardly extends it for retransmissions. Audio with gaps therefore gets a longer
// buffer, which is shortened after each minute without gaps.

/** @import { Call } from "./call.js" */
/** @import { Reading, Received } from "./call_statistics.js" */

import { effect } from "../vendor/signals.js";
import { reading } from "./call_statistics.js";

// The first step is long enough for the next packet, the second for a retransmission over a round trip of 60
// ms, and the third for a retransmission after a burst of losses or over a round trip of 150 ms. A longer
// delay makes conversation difficult.
const WAITS_MS = [0, 80, 160, 240];
// A single gap may be chance, so only a second gap within this many seconds lengthens the buffer.
const RECENT = 10;
// The number of readings without a gap after which a shorter buffer is tried.
const WHOLE = 60;

/**
 * The length of one microphone's jitter buffer, chosen from the share of audio concealed in each second.
 */
export class VoiceBuffer {
  #step = 0;
  #sinceGap = Infinity;
  #whole = 0;

  /** The minimum buffering time; 0 lets the browser choose. */
  get waitMs() {
    return WAITS_MS[this.#step];
  }

  /** @param {number} concealed */
  update(concealed) {
    this.#sinceGap += 1;
    this.#whole += 1;
    if (concealed > 0) {
      if (this.#sinceGap <= RECENT && this.#step < WAITS_MS.length - 1) {
        this.#step += 1;
        // The audio about to be played was buffered for the previous, shorter time.
        this.#sinceGap = Infinity;
      } else this.#sinceGap = 0;
      this.#whole = 0;
    } else if (this.#whole >= WHOLE && this.#step) {
      this.#step -= 1;
      this.#whole = 0;
    }
  }
}

/**
 * Adjust the jitter buffer of each microphone in a call until the returned function is called. `leastMs`
 * returns the minimum buffering time for all microphones.
 * @param {Pick<Call, "tracks">} call
 * @param {() => number} leastMs May read signals.
 */
export function bufferVoices(call, leastMs) {
  /** @type {WeakMap<RTCRtpReceiver, {trackId: string, buffer: VoiceBuffer}>} */
  const buffers = new WeakMap();
  /** @type {Reading | null} */
  let before = null;
  return effect(() => {
    const now = reading.value;
    /** @type {Map<string, Received>} */
    const heard = new Map(now === before ? [] : now?.received.map((track) => [track.trackId, track]));
    before = now;
    const minimumMs = leastMs();
    for (const { receiver, source, trackId } of call.tracks) {
      if (source !== "mic") continue;
      let of = buffers.get(receiver);
      // A media section can be reused for another microphone, which needs a new buffer.
      if (of?.trackId !== trackId) buffers.set(receiver, (of = { trackId, buffer: new VoiceBuffer() }));
      const sample = heard.get(trackId);
      if (sample) of.buffer.update(sample.concealed);
      const wait = Math.max(of.buffer.waitMs, minimumMs) || null;
      if (receiver.jitterBufferTarget !== wait) receiver.jitterBufferTarget = wait;
    }
  });
}
