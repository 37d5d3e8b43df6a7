// Selects the videos to receive: all cameras, except in audio-only mode, and the chosen screens. The SFU does
// not send the other videos. The first screen is selected automatically, and others on request. Does no I/O.

/** @import { Offered } from "./session.js" */
/** @import { Signal } from "../vendor/signals.js" */

import { signal } from "../vendor/signals.js";

const OF_SCREENS = new Set(["screen", "screen_audio"]);

export class Watching {
  /** Ids of members whose screen we have chosen to watch. @type {Signal<string[]>} */
  screens = signal([]);

  #onlySound = false;
  /** @type {Set<string>} */
  #known = new Set();

  /**
   * Return the offered tracks to receive, [{userId, source}]. A new screen is selected if no other screen is.
   * @template {Pick<Offered, "userId" | "source">} T
   * @param {T[]} offered
   */
  wanted(offered) {
    const sharing = new Set(offered.filter(({ source }) => source === "screen").map(({ userId }) => userId));
    const chosen = this.screens.value.filter((id) => sharing.has(id));
    for (const id of sharing) if (!this.#known.has(id) && !chosen.length && !this.#onlySound) chosen.push(id);
    this.#known = sharing;
    if (String(chosen) !== String(this.screens.value)) this.screens.value = chosen;
    return offered.filter((track) => this.#wants(track));
  }

  /** Start or stop watching a member's screen. @param {string} userId @param {boolean} watch */
  choose(userId, watch) {
    const others = this.screens.value.filter((id) => id !== userId);
    this.screens.value = watch ? [...others, userId] : others;
  }

  /** Stop all video, or receive all cameras and a screen again. @param {boolean} onlySound */
  chooseOnlySound(onlySound) {
    if (onlySound === this.#onlySound) return;
    this.#onlySound = onlySound;
    this.screens.value = onlySound ? [] : [...this.#known].slice(0, 1);
  }

  /** @param {Pick<Offered, "userId" | "source">} offered */
  #wants({ userId, source }) {
    if (OF_SCREENS.has(source)) return this.screens.value.includes(userId);
    return source !== "camera" || !this.#onlySound;
  }
}
