// Asks the SFU for the layers that are wanted of each video, and asks anew only where that has changed.

import { callSettings, wishesFor } from "../state/call_settings.js";
import { Automatic, layerFor } from "./automatic.js";

export class Layering {
  #call; #automatic = new Automatic(); #asked = new Map();

  constructor(call) {
    this.#call = call;
  }

  /** The highest layer that is asked for automatically, for showing. */
  get layer() {
    return this.#automatic.layer;
  }

  /** Take in a reading of quality.js. */
  hear(reading) {
    this.#automatic.hear(reading);
    this.ask();
  }

  /** Ask for what is wanted now. */
  ask() {
    for (const { trackId, userId, source } of this.#call.tracks) {
      if (source !== "camera" && source !== "screen") continue;
      const wanted = layerFor(wishesFor(userId).quality || callSettings.value.quality, this.#automatic.layer);
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
