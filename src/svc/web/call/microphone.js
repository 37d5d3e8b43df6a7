// A microphone that is open: what of it is sent, and how loud it is. It is silent while muted, while the key to
// talk is not held, and while it is quieter than the threshold.

/** @import { CallSettings } from "../state/call_settings.js" */
/** @typedef {Pick<CallSettings, "noise" | "music" | "input" | "threshold" | "releaseMs">} Wishes */

import { suppressed } from "./noise.js";

const LOOK_MS = 40;
const SAMPLES = 1024;

export class Microphone {
  /** What is sent. */
  track;

  #raw;
  /** @type {MediaStreamTrack | null} */
  #listened = null;
  /** @type {AudioContext | null} */
  #context = null;
  /** @type {AnalyserNode | null} */
  #analyser = null;
  #samples = new Float32Array(SAMPLES); #timer; #muted = false; #pressed = false; #loudUntil = 0; #settings;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #release;
  /** @type {(() => void) | null} */
  #stopNoise = null;
  #closed = false;

  /** `raw` is the device's track, `settings` those of calls. @param {MediaStreamTrack} raw @param {Wishes} settings */
  static async of(raw, settings) {
    const made = new Microphone(raw, settings);
    if (settings.noise === "strong" && !settings.music) await made.#suppress();
    made.#apply();
    return made;
  }

  /** @param {MediaStreamTrack} raw @param {Wishes} settings */
  constructor(raw, settings) {
    this.#raw = this.track = raw;
    this.#settings = settings;
    if (settings.input === "voice" && settings.threshold > 0) this.#timer = setInterval(() => this.#apply(), LOOK_MS);
  }

  /** The device. */
  get raw() {
    return this.#raw;
  }

  get muted() {
    return this.#muted;
  }

  set muted(muted) {
    this.#muted = muted;
    this.#apply();
  }

  /** The key to talk is held, or not. @param {boolean} pressed */
  press(pressed) {
    clearTimeout(this.#release);
    const set = () => {
      this.#pressed = pressed;
      this.#apply();
    };
    if (pressed) set();
    else this.#release = setTimeout(set, this.#settings.releaseMs);
  }

  /** How loud it is, 0 to 1: the root of the mean square, stretched so that speech is near the middle. */
  level() {
    if (this.#closed) return 0;
    const analyser = this.#analyser ?? this.#listen();
    analyser.getFloatTimeDomainData(this.#samples);
    const square = this.#samples.reduce((sum, sample) => sum + sample * sample, 0) / this.#samples.length;
    return Math.min(1, Math.sqrt(square) ** 0.5);
  }

  close() {
    if (this.#closed) return;
    this.#closed = true;
    clearInterval(this.#timer);
    clearTimeout(this.#release);
    for (const track of [this.#raw, this.#listened, this.track]) track?.stop();
    this.#stopNoise?.();
    this.#context?.close();
  }

  /** Only once somebody wants to know: it takes part of a core for as long as it lasts, and time while one joins. */
  #listen() {
    // What is listened to is a copy, so that a closed gate can hear when to open.
    this.#listened = this.#raw.clone();
    this.#listened.enabled = true;
    const context = this.#context = new AudioContext();
    const analyser = this.#analyser = context.createAnalyser();
    analyser.fftSize = SAMPLES;
    context.createMediaStreamSource(new MediaStream([this.#listened])).connect(analyser);
    return analyser;
  }

  #apply(now = performance.now()) {
    const { input, threshold, releaseMs } = this.#settings;
    if (threshold > 0 && input === "voice" && this.level() >= threshold) this.#loudUntil = now + releaseMs;
    const open = input === "push" ? this.#pressed : threshold === 0 || now < this.#loudUntil;
    this.track.enabled = open && !this.#muted;
  }

  async #suppress() {
    const { track, stop } = await suppressed(this.#raw);
    this.track = track;
    this.#stopNoise = stop;
  }
}
