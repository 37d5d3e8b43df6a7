// Controls an open microphone: its outgoing track and its level. The track is silent while muted, while the
// push-to-talk key is released, and while the level is below the threshold.

/** @import { CallSettings } from "../state/call_settings.js" */
/**
 * @typedef {Pick<CallSettings, "noise" | "music" | "input" | "threshold" | "releaseMs">} MicrophoneSettings
 */

import { suppressNoise } from "./noise_suppression.js";

const LOOK_MS = 40;
const SAMPLES = 1024;

export class Microphone {
  /** The track that others hear. */
  track;

  #raw;
  /** @type {MediaStreamTrack | null} */
  #listened = null;
  /** @type {AudioContext | null} */
  #context = null;
  /** @type {AnalyserNode | null} */
  #analyser = null;
  #samples = new Float32Array(SAMPLES);
  #timer;
  #muted = false;
  #pressed = false;
  #loudUntil = 0;
  #settings;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #release;
  /** @type {(() => void) | null} */
  #stopNoise = null;
  #closed = false;

  /**
   * Create a microphone from the device's track `raw` and the call's `settings`.
   * @param {MediaStreamTrack} raw
   * @param {MicrophoneSettings} settings
   */
  static async of(raw, settings) {
    const made = new Microphone(raw, settings);
    if (settings.noise === "strong" && !settings.music) await made.#suppress();
    made.#apply();
    return made;
  }

  /** @param {MediaStreamTrack} raw @param {MicrophoneSettings} settings */
  constructor(raw, settings) {
    this.#raw = this.track = raw;
    this.#settings = settings;
    if (settings.input === "voice" && settings.threshold > 0)
      this.#timer = setInterval(() => this.#apply(), LOOK_MS);
  }

  /** The unprocessed track from the device. */
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

  /** Handle a press or release of the push-to-talk key. @param {boolean} pressed */
  press(pressed) {
    clearTimeout(this.#release);
    const set = () => {
      this.#pressed = pressed;
      this.#apply();
    };
    if (pressed) set();
    else this.#release = setTimeout(set, this.#settings.releaseMs);
  }

  /**
   * Return the level, 0 to 1. This is the square root of the root mean square, which puts speech near the
   * middle.
   */
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

  /**
   * Start the analyser. It is started only on demand, because it uses CPU time and would delay joining.
   */
  #listen() {
    // Analyse a clone, because the track itself is disabled while the gate is closed.
    this.#listened = this.#raw.clone();
    this.#listened.enabled = true;
    const context = (this.#context = new AudioContext());
    const analyser = (this.#analyser = context.createAnalyser());
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
    const { track, stop } = await suppressNoise(this.#raw);
    this.track = track;
    this.#stopNoise = stop;
  }
}
