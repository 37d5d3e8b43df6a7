// Request from the SFU how much of each video we want: its layers, the width of its tile, or nothing at all.
// A request is sent only when it has changed.

/** @import { Call } from "./call.js" */
/** @import { Reading } from "./quality.js" */
/** @import { Offered, Track, Wish } from "./session.js" */

import { focused, tilePx } from "../state/call_layout.js";
import { callSettings, people, wishesFor } from "../state/call_settings.js";
import { effect } from "../vendor/signals.js";
import { Automatic, ALL, layerFor, LAYERS, PAUSED } from "./automatic.js";
import { LineDelay } from "./line_delay.js";
import { widths } from "./visibility.js";

// The playout delay of voices on a narrow line. Raising video there delays every packet before any is lost.
const NARROW_WAIT_MS = 240;
const LOOK_EVERY_MS = 200;
const HIDDEN_AFTER_MS = 5000; // For somebody who looks away for a moment, the pictures return at once.
const WIDTHS_PX = 80; // While a window is being resized, only steps of this size are reported.
const CLOCK_RATE = 48_000; // Opus.

export class Layering {
  #call;
  #onPaused;
  #automatic = new Automatic();
  #delay = new LineDelay();
  /** @type {Map<string, Wish>} */
  #asked = new Map();
  /** The time since which each track is hidden. @type {Map<string, number>} */
  #hiddenSince = new Map();
  #looking = setInterval(() => this.#look(), LOOK_EVERY_MS);

  /**
   * `onPaused(trackIds)` receives the videos that our line cannot carry.
   * @param {Call} call
   * @param {(trackIds: string[]) => void} onPaused
   */
  constructor(call, onPaused) {
    this.#call = call;
    this.#onPaused = onPaused;
    // The requests depend on the person's settings and on the tiles.
    const stop = effect(() => this.ask());
    this.stop = () => {
      clearInterval(this.#looking);
      stop();
    };
  }

  /** The lowest level that was chosen automatically, for display. */
  get level() {
    return this.#automatic.lowest;
  }

  /** Return the request for a track. @param {string} trackId @returns {Partial<Wish>} */
  of(trackId) {
    return this.#asked.get(trackId) ?? {};
  }

  /** Process a reading of quality.js. @param {Pick<Reading, "received">} reading */
  hear({ received }) {
    const heldMs = new Map(
      received.filter(({ source }) => source === "mic").map(({ trackId, waitMs }) => [trackId, waitMs]),
    );
    this.#automatic.hear(
      { received, queueMs: this.#delay.take(heldMs, performance.now()) },
      this.#byImportance(),
    );
    this.ask(true);
  }

  /** Send changed requests. A smaller tile is reported only with `settled`. */
  ask(settled = false) {
    // Read every signal even while there are no tracks, because otherwise the effect would not run when they
    // change.
    const [of, , shown, px] = [callSettings.value.quality, people.value, widths.value, tilePx.value];
    const wait = this.#automatic.lowest < ALL ? NARROW_WAIT_MS : null;
    const receivers = new Map(this.#call.tracks.map(({ trackId, receiver }) => [trackId, receiver]));
    for (const { receiver, source } of this.#call.tracks) {
      if (source === "mic" && receiver.jitterBufferTarget !== wait) receiver.jitterBufferTarget = wait;
    }
    const videos = this.#call.offered.filter(isVideo);
    for (const { trackId, userId } of videos) {
      const track = receivers.get(trackId)?.track;
      const { layer, paused } = layerFor(wishesFor(userId).quality || of, this.#automatic.of(trackId));
      const width = (track && shown.get(track)) ?? 0;
      const hidden = this.#isHidden(trackId, width > 0 || !track);
      this.#tell(
        trackId,
        { max_temporal_layer: layer, width: width || guess(px), paused: paused || hidden },
        settled,
      );
    }
    this.#onPaused(
      videos
        .filter((each) => this.#isAutomatic(each) && this.#automatic.of(each.trackId) === PAUSED)
        .map(({ trackId }) => trackId),
    );
    const there = new Set(videos.map(({ trackId }) => trackId));
    for (const known of [this.#asked, this.#hiddenSince])
      for (const trackId of known.keys()) if (!there.has(trackId)) known.delete(trackId);
  }

  /** Send all requests again: a new session does not know those of the previous one. */
  startOver() {
    this.#asked.clear();
    this.ask();
  }

  /** @param {string} trackId @param {Wish} wish @param {boolean} settled */
  #tell(trackId, { max_temporal_layer: layer, width: px, paused }, settled) {
    const before = this.#asked.get(trackId) ?? { max_temporal_layer: -1, width: 0, paused: false };
    let width = Math.ceil(px / WIDTHS_PX) * WIDTHS_PX;
    if (before.width && width < before.width && !settled) width = before.width;
    const wish = { max_temporal_layer: layer, width, paused };
    const changed = Object.entries(wish).filter(
      ([name, value]) => before[/** @type {keyof Wish} */ (name)] !== value,
    );
    if (!changed.length) return;
    this.#asked.set(trackId, wish);
    this.#call.wish(trackId, Object.fromEntries(changed));
  }

  /** @param {string} trackId @param {boolean} shown */
  #isHidden(trackId, shown) {
    const now = performance.now();
    if (shown) this.#hiddenSince.delete(trackId);
    else if (!this.#hiddenSince.has(trackId)) this.#hiddenSince.set(trackId, now);
    return !shown && now - (this.#hiddenSince.get(trackId) ?? now) >= HIDDEN_AFTER_MS;
  }

  /** @param {Pick<Offered, "userId">} track */
  #isAutomatic({ userId }) {
    return !((wishesFor(userId).quality || callSettings.value.quality) in LAYERS);
  }

  /** Return the videos that are decided automatically: screens, then speakers, then large tiles. */
  #byImportance() {
    const [large, speakers] = [focused.peek(), this.#call.speakers];
    const importance = (/** @type {Track} */ { source, userId, receiver }) => {
      const rank =
        source === "screen" ? 3 : speakers.includes(userId) ? 2 : large.includes(`camera ${userId}`) ? 1 : 0;
      return rank * 100_000 + (widths.peek().get(receiver.track) ?? 0);
    };
    // Hidden videos are paused anyway, so raising them would be wasted.
    const shown = this.#call.tracks.filter(
      (track) => isVideo(track) && this.#isAutomatic(track) && widths.peek().has(track.receiver.track),
    );
    return shown.sort((a, b) => importance(b) - importance(a)).map(({ trackId }) => trackId);
  }

  #look() {
    for (const { trackId, source, receiver } of this.#call.tracks) {
      if (source !== "mic") continue;
      for (const { timestamp, rtpTimestamp } of receiver.getSynchronizationSources())
        this.#delay.note(trackId, timestamp, rtpTimestamp, CLOCK_RATE);
    }
  }
}

/**
 * Return the likely width of a tile that is not drawn yet: that of the others, or 0 if there are none.
 * @param {number} px
 */
const guess = (px) => (px < Infinity ? Math.ceil(px * devicePixelRatio) : 0);
/** @param {Pick<Offered, "source">} track */
const isVideo = ({ source }) => source === "camera" || source === "screen";
