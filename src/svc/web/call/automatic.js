// How many temporal layers of other people's video are asked for, so that their sound stays whole: fewer when sound
// has to be concealed, much is lost or pictures keep freezing, more again when all has been well for a while; and
// fewer for a small tile. Sans I/O: readings in, layers out.

/** @import { Received } from "./quality.js" */

const BAD_CONCEALED = 0.01; // Of the sound of a second.
const AWFUL_CONCEALED = 0.02;
const BAD_DRAINED_MS = 100; // In a second, of what waits to be heard: what was tried makes everything late.
const BAD_LOST = 0.08; // Of the packets of a second; what is sent again in time is not lost.
const AWFUL_LOST = 0.2;
const BAD_FREEZES_S = 2; // One after another, with a freeze in each.
const SEVERAL = 2; // Cameras; that a single one of many freezes is its sender's doing. A screen may stand still.
const SMALL_PX = 200; // In a tile that is narrower nobody misses every second picture.
const OF_SMALL = 1;
/** The highest of the layers 0, 1 and 2. */
export const ALL = 2;
const WELL_S = 4; // So long all must be well before more is tried,
const WELL_AGAIN_S = 6; // and so long where the last attempt has failed.
const SETTLING_S = 2; // That less is asked for takes a moment to be felt.

/** The layer that each choice of a person's stands for; "automatic" is decided here. */
export const LAYERS = { high: -1, low: 1, saver: 0 };

export class Automatic {
  /** The highest layer to ask for: 0, 1, or 2 for all. */
  layer = ALL;

  #wellS = 0;
  /** @type {Set<number>} */
  #failed = new Set();
  #sinceChangeS = SETTLING_S; #raisedS = Infinity; #frozenS = 0; #waitMs = 0;

  /** Take in what was measured in the last second; returns the layer to ask for. @param {{received: Received[]}} reading */
  hear({ received }) {
    this.#sinceChangeS += 1;
    this.#raisedS += 1;
    const concealed = Math.max(0, ...received.map((each) => each.concealed));
    const lost = Math.max(0, ...received.map((each) => each.lost));
    this.#frozenS = freeze(received.filter(({ source }) => source === "camera")) ? this.#frozenS + 1 : 0;
    const frozen = this.#frozenS >= BAD_FREEZES_S;
    if (this.#drained(received) || concealed > BAD_CONCEALED || frozen || lost > BAD_LOST) this.#worse(lost > AWFUL_LOST || concealed > AWFUL_CONCEALED);
    else this.#better(received);
    return this.layer;
  }

  /** Has what waits to be heard become far less since the last second, while more is tried? @param {Received[]} received */
  #drained(received) {
    const before = this.#waitMs;
    const voices = received.filter(({ source }) => source === "mic");
    this.#waitMs = voices.reduce((sum, { waitMs }) => sum + waitMs, 0) / Math.max(1, voices.length);
    return this.#raisedS <= WELL_S && voices.length > 0 && before - this.#waitMs > BAD_DRAINED_MS;
  }

  /** @param {boolean} awful */
  #worse(awful) {
    this.#wellS = 0;
    const tooEarly = this.#raisedS < WELL_S;
    if (this.layer === 0 || (this.#sinceChangeS < SETTLING_S && !tooEarly)) return;
    // What was tried too early is tried later the next time.
    if (tooEarly) this.#failed.add(this.layer);
    this.#raisedS = Infinity;
    this.#become(awful && !tooEarly ? 0 : this.layer - 1);
  }

  /** @param {Received[]} received */
  #better(received) {
    this.#wellS += 1;
    if (this.#raisedS === WELL_S) this.#failed.clear();
    const neededS = this.#failed.has(this.layer + 1) ? WELL_AGAIN_S : WELL_S;
    if (this.layer === ALL || this.#wellS < neededS || !received.length) return;
    this.#wellS = 0;
    this.#raisedS = 0;
    this.#become(this.layer + 1);
  }

  /** @param {number} layer */
  #become(layer) {
    this.layer = layer;
    this.#sinceChangeS = 0;
  }
}

/** @param {Received[]} cameras */
function freeze(cameras) {
  const frozen = cameras.filter(({ freezes }) => freezes > 0).length;
  return frozen > 0 && frozen >= Math.min(SEVERAL, cameras.length);
}

/** What to ask for of one track: the person's own choice, or what is decided automatically for a tile of this width. @param {string} choice @param {number} automatic */
export function layerFor(choice, automatic, widthPx = Infinity) {
  if (choice in LAYERS) return LAYERS[/** @type {keyof typeof LAYERS} */ (choice)];
  const layer = widthPx < SMALL_PX ? Math.min(OF_SMALL, automatic) : automatic;
  return layer >= ALL ? -1 : layer;
}
