// Selects the key that encrypts a frame in a call, and decides whether a received frame may be decrypted. A
// KID contains the group's epoch, the device's leaf, the source, and a random session number. As a result, no
// counter is ever used twice with the same key, however often somebody rejoins. See docs/private.md.

import { derived } from "./sframe.js";

// When many members join or leave at the same time, frames from several epochs are in transit.
const EPOCHS = 8;
const SOURCES = ["mic", "camera", "screen", "screen_audio"];
// The maximum number of keys per epoch. Five members who each rejoin about ten times reach this limit.
const MAX_KIDS = 256;
const WINDOW = 512n; // A frame that lags this far behind the newest frame is dropped.
const STAY_BITS = 44;
// How long frames from the previous epoch are still accepted, because some senders learn of the new epoch
// later than we do. The time is short after a removal, because removed members still have the old key.
const AFTER_REMOVAL_MS = 500;
const AFTER_ADDITION_MS = 10_000;

/** Combine random words into a session number. @param {number[]} words */
export const stayOf = (words) =>
  BigInt.asUintN(
    STAY_BITS,
    words.reduce((sum, word) => (sum << 32n) | BigInt(word), 0n),
  );

/** @param {{epoch: number, leaf: number}} where @param {string} source @param {bigint} stay */
export function kidOf({ epoch, leaf }, source, stay) {
  return (
    (stay << 20n) | (BigInt(SOURCES.indexOf(source)) << 18n) | (BigInt(leaf) << 8n) | BigInt(epoch % 256)
  );
}

const partsOf = (/** @type {bigint} */ kid) => ({
  low: Number(kid & 255n),
  leaf: Number((kid >> 8n) & 1023n),
  source: SOURCES[Number((kid >> 18n) & 3n)],
});

/** @param {Uint8Array} a @param {Uint8Array} b */
const isSame = (a, b) => a.every((byte, at) => byte === b[at]);

/** The counters of one of our tracks during one session. */
export class SentTrack {
  /** @type {Map<bigint, bigint>} */
  #counters = new Map();

  /** @param {string} source @param {bigint} stay */
  constructor(source, stay) {
    this.source = source;
    this.stay = stay;
  }

  /** Return the counter of the next frame. @param {bigint} kid @returns {bigint} */
  next(kid) {
    const counter = this.#counters.get(kid) ?? 0n;
    this.#counters.set(kid, counter + 1n);
    return counter;
  }
}

/**
 * The keys of the current epoch and of a few earlier ones.
 * @typedef {{epoch: number, leaf: number, baseKey: Uint8Array<ArrayBuffer>, members: {[leaf: number]:
 *   string}, devices: string[]}} Epoch `devices` contains their thumbprints.
 * @typedef {Epoch & {keys: Map<bigint, ReturnType<typeof derived>>}} StoredEpoch
 */
export class FrameKeys {
  /** The stored epochs, newest first. @type {StoredEpoch[]} */
  #epochs = [];
  /** @type {Map<bigint, {highest: bigint, seen: Set<bigint>}>} */
  #seen = new Map();

  /**
   * Add an epoch. Return how long frames from earlier epochs are still accepted, in ms; null if the epoch has
   * already been added.
   * @param {Epoch} epoch
   */
  take(epoch) {
    // A group that was created again starts with epoch 0, so compare the keys.
    if (this.#epochs.some(({ baseKey }) => isSame(baseKey, epoch.baseKey))) return null;
    const isGone = this.#epochs[0]?.devices.some((device) => !epoch.devices.includes(device));
    this.#keep([{ ...epoch, keys: new Map() }, ...this.#epochs].slice(0, EPOCHS));
    return isGone ? AFTER_REMOVAL_MS : AFTER_ADDITION_MS;
  }

  /**
   * Delete the epochs before this one. Their remaining frames have either arrived or been lost.
   * @param {Epoch} epoch
   */
  endBefore({ baseKey }) {
    const at = this.#epochs.findIndex((epoch) => isSame(epoch.baseKey, baseKey));
    if (at >= 0) this.#keep(this.#epochs.slice(0, at + 1));
  }

  /** @param {StoredEpoch[]} epochs */
  #keep(epochs) {
    this.#epochs = epochs;
    const lows = this.#epochs.map((epoch) => epoch.epoch % 256);
    for (const kid of this.#seen.keys()) if (!lows.includes(partsOf(kid).low)) this.#seen.delete(kid);
  }

  /** Return the current key for one of our tracks; null while there is no epoch. @param {SentTrack} track */
  async toSend({ source, stay }) {
    const [epoch] = this.#epochs;
    return epoch ? this.#key(epoch, kidOf(epoch, source, stay)) : null;
  }

  /**
   * Return the key that decrypts a frame, or null if the frame does not come from `owner`, the member and
   * source assigned to its media section.
   * @param {{kid: bigint}} head @param {{memberId: string, source: string} | undefined} owner
   */
  async toOpen({ kid }, owner) {
    const { low, leaf, source } = partsOf(kid);
    const epoch = this.#epochs.find((epoch) => epoch.epoch % 256 === low);
    if (!epoch || !owner || epoch.members[leaf] !== owner.memberId || source !== owner.source) return null;
    if (leaf === epoch.leaf) return null; // The server never sends our own frames back to us.
    if (!epoch.keys.has(kid) && epoch.keys.size >= MAX_KIDS) epoch.keys.clear();
    return this.#key(epoch, kid);
  }

  /**
   * Return whether this authenticated frame is new, to prevent replays.
   * @param {{kid: bigint, counter: bigint}} head
   */
  isNew({ kid, counter }) {
    const known = this.#seen.get(kid) ?? { highest: counter, seen: new Set() };
    this.#seen.set(kid, known);
    if (counter + WINDOW <= known.highest || known.seen.has(counter)) return false;
    known.seen.add(counter);
    if (counter > known.highest) known.highest = counter;
    if (known.seen.size > 2 * Number(WINDOW))
      for (const index of known.seen) if (index + WINDOW <= known.highest) known.seen.delete(index);
    return true;
  }

  /** @param {StoredEpoch} epoch @param {bigint} kid */
  #key(epoch, kid) {
    const made = epoch.keys.get(kid) ?? derived(epoch.baseKey, kid);
    epoch.keys.set(kid, made);
    return made;
  }
}
