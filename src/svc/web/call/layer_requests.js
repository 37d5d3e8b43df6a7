// Requests the wanted layers of each video from the SFU, and stores the layers that the SFU reports sending.
// Sends a request only if it has changed. When our downlink is too slow for everything, the SFU decides which
// videos to send in lower quality.

/** @import { Signal } from "../vendor/signals.js" */
/** @import { Call } from "./call.js" */
/** @import { Estimate, Layers, Offered, LayerRequest } from "./session.js" */

import { focused, pinned, tilePx } from "../state/call_layout.js";
import { callSettings, people, personSettings } from "../state/call_settings.js";
import { effect, signal } from "../vendor/signals.js";
import { wantedLayers } from "./wanted_layers.js";
import { widths } from "./video_visibility.js";
import { bufferVoices } from "./jitter_buffers.js";

// The minimum buffering time for microphones on a slow downlink, where packets are delayed before any are
// lost.
const NARROW_WAIT_MS = 240;
const SETTLE_EVERY_MS = 1000;
const HIDDEN_AFTER_MS = 5000; // A video that is hidden for a shorter time is still sent.
const SPOKE_MS = 5000; // A speaker keeps priority for this long, to bridge pauses between sentences.
const WIDTHS_PX = 80; // Widths are rounded up to multiples of this, so resizing a window sends few requests.

/**
 * The layers that the SFU is sending for each video, by track id. Empty if the SFU does not report layers.
 * @type {Signal<Map<string, Layers>>}
 */
export const layers = signal(new Map());
/** Our downlink's capacity as estimated by the SFU, or null. @type {Signal<Estimate | null>} */
export const estimate = signal(null);

export class LayerRequests {
  #call;
  /** @type {Map<string, LayerRequest>} */
  #requested = new Map();
  /** When each hidden track was hidden. @type {Map<string, number>} */
  #hiddenSince = new Map();
  /** When each member was last heard. @type {Map<string, number>} */
  #spoke = new Map();

  /** @param {Call} call */
  constructor(call) {
    this.#call = call;
    call.addEventListener("layers", () => {
      layers.value = call.layers;
    });
    call.addEventListener("bandwidth", () => {
      estimate.value = call.bandwidth;
    });
    call.addEventListener("speakers", () => {
      this.#noteSpeakers();
      this.ask();
    });
    // Send the requests again when the member's settings or the tiles change.
    const stop = effect(() => this.ask());
    const settling = setInterval(() => {
      this.#noteSpeakers();
      this.ask(true);
    }, SETTLE_EVERY_MS);
    const isNarrow = () => [...layers.value.values()].some(({ reason }) => reason === "line");
    const stopBuffering = bufferVoices(call, () => (isNarrow() ? NARROW_WAIT_MS : 0));
    this.stop = () => {
      stopBuffering();
      clearInterval(settling);
      stop();
      layers.value = new Map();
      estimate.value = null;
    };
  }

  /** Send the requests that have changed. Request a smaller width only if `settled`. */
  ask(settled = false) {
    // Read every signal even while there are no tracks; otherwise, the effect would not run when they change.
    const [{ quality, lessData }, , shown, px] = [
      callSettings.value,
      people.value,
      widths.value,
      tilePx.value,
    ];
    const [large, held] = [focused.value, pinned.value];
    const receivers = new Map(this.#call.tracks.map(({ trackId, receiver }) => [trackId, receiver]));
    const videos = this.#call.offered.filter(isVideo);
    for (const { trackId, userId, source } of videos) {
      const track = receivers.get(trackId)?.track;
      const key = `${source} ${userId}`;
      const width = (track && shown.get(track)) ?? 0;
      const hidden = this.#isHidden(trackId, width > 0 || !track);
      const tile = {
        source,
        width: this.#steady(trackId, width || guess(px), settled),
        hidden,
        large: large.includes(key),
        chosen: key === held || this.#spoke.has(userId),
      };
      this.#send(
        trackId,
        wantedLayers(tile, { choice: personSettings(userId).quality || quality, lessData }),
      );
    }
    const visible = new Set(videos.map(({ trackId }) => trackId));
    for (const known of [this.#requested, this.#hiddenSince]) {
      for (const trackId of known.keys()) if (!visible.has(trackId)) known.delete(trackId);
    }
  }

  /** Send all requests again, because a new session does not have the previous session's requests. */
  startOver() {
    this.#requested.clear();
    this.ask();
  }

  /**
   * @param {string} trackId
   * @param {LayerRequest} request
   */
  #send(trackId, request) {
    const before = this.#requested.get(trackId);
    const changed = Object.entries(request).filter(
      ([name, value]) => before?.[/** @type {keyof LayerRequest} */ (name)] !== value,
    );
    if (!changed.length) return;
    this.#requested.set(trackId, request);
    this.#call.requestLayers(trackId, Object.fromEntries(changed));
  }

  /**
   * Return a tile's width, rounded up to a multiple of WIDTHS_PX. The width never shrinks unless `settled`.
   * @param {string} trackId
   * @param {number} px
   * @param {boolean} settled
   */
  #steady(trackId, px, settled) {
    const width = Math.ceil(px / WIDTHS_PX) * WIDTHS_PX;
    const before = this.#requested.get(trackId)?.width ?? 0;
    return before && !settled ? Math.max(width, before) : width;
  }

  /**
   * @param {string} trackId
   * @param {boolean} shown
   */
  #isHidden(trackId, shown) {
    const now = performance.now();
    if (shown) this.#hiddenSince.delete(trackId);
    else if (!this.#hiddenSince.has(trackId)) this.#hiddenSince.set(trackId, now);
    return !shown && now - (this.#hiddenSince.get(trackId) ?? now) >= HIDDEN_AFTER_MS;
  }

  #noteSpeakers() {
    const now = performance.now();
    for (const userId of this.#call.speakers) this.#spoke.set(userId, now);
    for (const [userId, at] of this.#spoke) if (now - at >= SPOKE_MS) this.#spoke.delete(userId);
  }
}

/**
 * Return the likely width of a tile that has not been rendered yet: the width of the other tiles, or 0 if
 * there are none.
 * @param {number} px
 */
const guess = (px) => (px < Infinity ? Math.ceil(px * devicePixelRatio) : 0);
/** @param {Pick<Offered, "source">} track */
const isVideo = ({ source }) => source === "camera" || source === "screen";
