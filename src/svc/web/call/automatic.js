// Decide how much of the received video to request so that sound stays whole: less while packets queue on
// their way to us, more again after a calm period. Each video has a level: all of its layers, fewer, or none.
// The least important videos are lowered first and raised last. Sound is never lowered. Sans I/O: readings
// in, levels out.

/** @import { Received } from "./quality.js" */

/** No layer of the video is requested. */
export const PAUSED = -1;
/** The highest of the layers 0, 1 and 2. */
export const ALL = 2;
// The share of a video's bits that each level carries, as measured with browsers.
/** @type {{[level: number]: number}} */
const SHARE = { [PAUSED]: 0, 0: 0.5, 1: 0.75, [ALL]: 1 };
const USUAL_KBPS = 300; // Assumed for a video that has not been measured yet.

// Delay in excess of the empty line's. Loss without such delay is not caused by our traffic, so sending less
// does not help.
const BAD_QUEUE_MS = 80,
  CALM_QUEUE_MS = 40;
// A shorter delay may be one second in which this machine or the sender's was busy.
const AWFUL_QUEUE_MS = 200;
// A delay that remains after all videos have been paused for this long is not caused by them.
const NOT_OURS_S = 4;
const FALLING_MS = 10; // Per second: the queue drains, so the current levels suffice.
const POLICED_LOST = 0.25,
  POLICED_S = 2; // A line that drops excess packets instead of queueing them.
// Where delay cannot be measured, lost and concealed sound show congestion.
const BAD_CONCEALED = 0.01,
  BAD_LOST = 0.08;
const BAD_FREEZES_S = 2; // Consecutive seconds with a freeze and without loss: this machine is too slow.
const SEVERAL = 2; // Cameras. If only one of many freezes, its sender is the cause. A screen may stand still.

const FITS = 0.8; // The share of the incoming rate to fill while there is a queue; the rest lets it drain.
const SETTLING_S = 2; // A lowered request takes this long to have an effect.
const WELL_S = 2; // The calm period required before trying more,
const BEYOND_S = 8; // and the one required where more would exceed the rate that the line has carried before.
const PROVEN_S = 15; // An attempt that has lasted this long proves that the line carries the rate.
const FASTER = 3; // Each successful attempt multiplies the steps of the next one by this factor.
const FAILED_S = 6; // Trouble this soon after a raise is caused by the raise.

/** The layer for each of the person's choices. This module decides "automatic". */
export const LAYERS = { high: -1, low: 1, saver: 0 };

export class Automatic {
  /** @type {Map<string, number>} */
  #levels = new Map();
  /** The full rate of each track, in kbit/s. @type {Map<string, number>} */
  #full = new Map();
  /** The levels before the last raise. @type {Map<string, number>} */
  #before = new Map();
  /** The rate received while there was last a queue, in kbit/s. */
  #carried = Infinity;
  #wellS = 0;
  #steps = 1;
  #sinceChangeS = SETTLING_S;
  #sinceRaiseS = Infinity;
  #frozenS = 0;
  #policedS = 0;
  #queueMs = 0;
  #waitedS = 0;
  #notOursMs = 0;

  /** Return the level of a track: PAUSED, 0, 1, or ALL. @param {string} trackId */
  of(trackId) {
    return this.#levels.get(trackId) ?? ALL;
  }

  /** The lowest level of any video. */
  get lowest() {
    return Math.min(ALL, ...this.#levels.values());
  }

  /**
   * Process the measurements of the last second. `queueMs` is how long packets queue on their way here, or
   * null if unknown. `videos` are the tracks whose levels are decided here, the most important first.
   * @param {{received: Received[], queueMs: number | null}} reading @param {string[]} videos
   */
  hear({ received, queueMs: delayMs }, videos) {
    this.#keepOnly(videos);
    this.#sinceChangeS += 1;
    this.#sinceRaiseS += 1;
    if (this.#before.size && this.#sinceRaiseS >= PROVEN_S) {
      this.#before.clear();
      this.#carried = Math.max(this.#carried, kbpsOf(received));
    }
    const queueMs = delayMs === null ? null : this.#ours(delayMs, videos);
    const falling = queueMs !== null && queueMs < this.#queueMs - FALLING_MS;
    const bad = this.#isBad(received, queueMs);
    this.#measure(received, bad);
    this.#queueMs = queueMs ?? 0;
    if (bad) this.#worse(received, videos, falling);
    else if ((queueMs ?? 0) <= CALM_QUEUE_MS && received.length) this.#better(received, videos);
  }

  /**
   * Return the part of a delay that our videos can cause.
   * @param {number} delayMs
   * @param {string[]} videos
   */
  #ours(delayMs, videos) {
    const silent = this.#sinceChangeS >= NOT_OURS_S && videos.every((trackId) => this.of(trackId) === PAUSED);
    this.#notOursMs = silent ? delayMs : Math.min(this.#notOursMs, delayMs);
    return delayMs - this.#notOursMs;
  }

  /** Forget other videos. A new video starts at the lowest level in use. @param {string[]} videos */
  #keepOnly(videos) {
    for (const trackId of this.#levels.keys()) if (!videos.includes(trackId)) this.#levels.delete(trackId);
    for (const trackId of this.#full.keys()) if (!videos.includes(trackId)) this.#full.delete(trackId);
    const lowest = this.lowest;
    for (const trackId of videos) if (!this.#levels.has(trackId)) this.#levels.set(trackId, lowest);
  }

  /**
   * Measure full rates. While there is a queue, more is sent than arrives.
   * @param {Received[]} received
   * @param {boolean} bad
   */
  #measure(received, bad) {
    for (const { trackId, kbps, lost } of received) {
      const level = this.#levels.get(trackId);
      if (level === undefined || level === PAUSED || !kbps || this.#sinceChangeS < SETTLING_S) continue;
      const full = kbps / SHARE[level] / Math.max(0.1, 1 - lost);
      this.#full.set(trackId, bad ? Math.max(full, this.#full.get(trackId) ?? 0) : full);
    }
  }

  /** @param {Received[]} received @param {number | null} queueMs */
  #isBad(received, queueMs) {
    const lost = Math.max(0, ...received.map((each) => each.lost));
    const concealed = Math.max(0, ...received.map((each) => each.concealed));
    const cameras = received.filter(({ source }) => source === "camera");
    this.#frozenS = freeze(cameras) && lost < BAD_LOST / 4 ? this.#frozenS + 1 : 0;
    this.#policedS = lost > POLICED_LOST ? this.#policedS + 1 : 0;
    this.#waitedS = queueMs !== null && queueMs > BAD_QUEUE_MS ? this.#waitedS + 1 : 0;
    if (this.#frozenS >= BAD_FREEZES_S || this.#policedS >= POLICED_S) return true;
    if (queueMs === null) return concealed > BAD_CONCEALED || lost > BAD_LOST;
    return this.#waitedS > 1 || queueMs > AWFUL_QUEUE_MS;
  }

  /** @param {Received[]} received @param {string[]} videos @param {boolean} falling */
  #worse(received, videos, falling) {
    this.#wellS = 0;
    this.#steps = 1;
    this.#carried = kbpsOf(received);
    if (this.#sinceRaiseS <= FAILED_S && this.#before.size) {
      for (const [trackId, level] of this.#before)
        if (this.#levels.has(trackId)) this.#levels.set(trackId, Math.min(level, this.of(trackId)));
      this.#before.clear();
      this.#sinceChangeS = 0;
    } else if (this.#sinceChangeS >= SETTLING_S && !falling) {
      const forVideos = FITS * kbpsOf(received) - this.#otherKbps(received);
      do {
        if (!this.#lowerOne(videos)) break;
        this.#sinceChangeS = 0;
      } while (this.#estimated() > forVideos);
    }
  }

  /** Return the rate of sound and of other tracks that are not decided here. @param {Received[]} received */
  #otherKbps(received) {
    return kbpsOf(received.filter(({ trackId }) => !this.#levels.has(trackId)));
  }

  #estimated(levels = this.#levels) {
    return [...levels].reduce(
      (total, [trackId, level]) => total + SHARE[level] * (this.#full.get(trackId) ?? USUAL_KBPS),
      0,
    );
  }

  /**
   * Lower the least important video first; pause none before all are at their lowest layer.
   * @param {string[]} videos
   */
  #lowerOne(videos) {
    const least =
      videos.findLast((trackId) => this.of(trackId) > 0) ??
      videos.findLast((trackId) => this.of(trackId) === 0);
    if (least) this.#levels.set(least, this.of(least) - 1);
    return least !== undefined;
  }

  /** @param {Received[]} received @param {string[]} videos */
  #better(received, videos) {
    this.#wellS += 1;
    const raised = this.#raised(videos);
    const beyond = this.#steps === 1 && this.#estimated(raised) + this.#otherKbps(received) > this.#carried;
    if (this.lowest === ALL) this.#steps = 1;
    else if (this.#wellS >= (beyond ? BEYOND_S : WELL_S)) this.#raise(raised);
    else if (this.#sinceChangeS >= SETTLING_S) this.#swap(videos);
  }

  /** @param {string[]} videos */
  #raised(videos) {
    const levels = new Map(this.#levels);
    const of = (/** @type {string} */ trackId) => levels.get(trackId) ?? ALL;
    for (let step = 0; step < this.#steps; step++) {
      const most =
        videos.find((trackId) => of(trackId) === PAUSED) ?? videos.find((trackId) => of(trackId) < ALL);
      if (most) levels.set(most, of(most) + 1);
    }
    return levels;
  }

  /** @param {Map<string, number>} levels */
  #raise(levels) {
    this.#before = this.#levels;
    this.#levels = levels;
    this.#steps *= FASTER;
    this.#wellS = 0;
    this.#sinceChangeS = this.#sinceRaiseS = 0;
  }

  /**
   * Give a paused video that has become more important the place of the least important one.
   * @param {string[]} videos
   */
  #swap(videos) {
    const paused = videos.findIndex((trackId) => this.of(trackId) === PAUSED);
    const shown = videos.findLastIndex((trackId) => this.of(trackId) > PAUSED);
    if (paused < 0 || shown < paused) return;
    this.#levels.set(videos[paused], this.of(videos[shown]));
    this.#levels.set(videos[shown], PAUSED);
    this.#before.clear();
    this.#sinceChangeS = 0;
  }
}

/** @param {Received[]} received */
const kbpsOf = (received) => received.reduce((total, { kbps }) => total + kbps, 0);

/** @param {Received[]} cameras */
function freeze(cameras) {
  const frozen = cameras.filter(({ freezes }) => freezes > 0).length;
  return frozen > 0 && frozen >= Math.min(SEVERAL, cameras.length);
}

/**
 * Return the request for one track: the person's own choice, or the automatic level.
 * @param {string} choice @param {number} level @returns {{layer: number, paused: boolean}}
 */
export function layerFor(choice, level) {
  if (choice in LAYERS) return { layer: LAYERS[/** @type {keyof typeof LAYERS} */ (choice)], paused: false };
  return { layer: level >= ALL ? -1 : Math.max(0, level), paused: level === PAUSED };
}
