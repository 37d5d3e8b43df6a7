// Asks the SFU for the layers that are wanted of each video, and asks anew only where that has changed.

/** @import { Call } from "./call.js" */
/** @import { Received } from "./quality.js" */

import { focused, tilePx } from "../state/call_layout.js";
import { callSettings, people, wishesFor } from "../state/call_settings.js";
import { effect } from "../vendor/signals.js";
import { ALL, Automatic, layerFor } from "./automatic.js";

// How long voices wait on a narrow line: what is tried there makes everything late before anything is lost.
const NARROW_WAIT_MS = 240;

export class Layering {
  #call; #automatic = new Automatic();
  /** @type {Map<string, number>} */
  #asked = new Map();

  /** @param {Call} call */
  constructor(call) {
    this.#call = call;
    // What is asked for changes with what the person chooses, and with the tiles.
    this.stop = effect(() => this.ask());
  }

  /** The highest layer that is asked for automatically, for showing. */
  get layer() {
    return this.#automatic.layer;
  }

  /** The highest layer that is asked for of a track; -1 for all. @param {string} trackId */
  of(trackId) {
    return this.#asked.get(trackId) ?? -1;
  }

  /** Take in a reading of quality.js. @param {{received: Received[]}} reading */
  hear(reading) {
    this.#automatic.hear(reading);
    this.ask();
  }

  /** Ask for what is wanted now. */
  ask() {
    // Looked at also while there are no tracks yet, or it would not be heard when they change.
    const [of, large, px] = [callSettings.value.quality, focused.value, people.value && tilePx.value];
    const wait = this.#automatic.layer < ALL ? NARROW_WAIT_MS : null;
    for (const { receiver, source } of this.#call.tracks) {
      if (source === "mic" && receiver.jitterBufferTarget !== wait) receiver.jitterBufferTarget = wait;
    }
    for (const { trackId, userId, source } of this.#call.tracks) {
      if (source !== "camera" && source !== "screen") continue;
      const widthPx = source === "screen" || large.includes(`camera ${userId}`) ? Infinity : px;
      const wanted = layerFor(wishesFor(userId).quality || of, this.#automatic.layer, widthPx);
      if ((this.#asked.get(trackId) ?? -1) === wanted) continue;
      this.#asked.set(trackId, wanted);
      this.#call.setLayer(trackId, wanted);
    }
    // The SFU remembers a line's layer while its track is not watched.
    const there = new Set(this.#call.offered.map(({ trackId }) => trackId));
    for (const trackId of this.#asked.keys()) if (!there.has(trackId)) this.#asked.delete(trackId);
  }

  /** A new session knows nothing of what was asked for in the one before. */
  startOver() {
    this.#asked.clear();
    this.ask();
  }
}
