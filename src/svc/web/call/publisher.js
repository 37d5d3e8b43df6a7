// Opens, publishes, mutes, switches and stops our microphone, camera and screen in a call. Does not use the
// DOM or media sections.

/** @import { TypedEventTarget } from "../types/wire.js" */
/** @import { CallSettings } from "../state/call_settings.js" */
/** @import { Call } from "./call.js" */
/** @typedef {"microphone" | "camera" | "screen"} Device */
/** @typedef {{change: null, trouble: string, previous: Partial<CallSettings>}} Events */

import { t } from "../words/words.js";
import {
  canBlur,
  explainDevice,
  openCamera,
  openMicrophone,
  openScreen,
  reshapeScreen,
} from "./media_capture.js";
import { Microphone } from "./microphone.js";

/**
 * Our devices in a call. Dispatches "change" after any property has changed, "trouble" (detail: an error text
 * to show to the member), and "previous" (detail: the settings to restore because the newly chosen device
 * cannot be opened).
 */
export class Publisher extends /** @type {TypedEventTarget<Events>} */ (EventTarget) {
  /** @type {Microphone | null} */
  mic = null;
  /** @type {MediaStreamTrack | null} */
  camera = null;
  /** @type {Awaited<ReturnType<typeof openScreen>> | null} */
  screen = null;

  #call;
  #settings;
  /** @type {Set<Device>} */
  #opening = new Set();
  /** @type {Set<Device>} */
  #again = new Set();
  #stopped = false;
  /** Ids of devices that have already been reported missing. @type {Set<string>} */
  #missed = new Set();

  /**
   * `settings()` returns the current call settings.
   * @param {Call} call
   * @param {() => CallSettings} settings
   */
  constructor(call, settings) {
    super();
    this.#call = call;
    this.#settings = settings;
  }

  get muted() {
    return this.mic?.muted ?? false;
  }

  /**
   * Open the microphone, or mute or unmute it if it is open. A muted microphone stays open and sends silence.
   */
  async toggleMic() {
    if (!this.mic) return this.#open("microphone", () => this.#startMic());
    this.mic.muted = !this.mic.muted;
    return this.#changed();
  }

  async toggleCamera() {
    if (this.camera) return this.#stopCamera();
    return this.#open("camera", () => this.#startCamera());
  }

  async toggleScreen() {
    if (this.screen) return this.#stopScreen();
    return this.#open("screen", () => this.#startScreen());
  }

  stopScreen() {
    this.#stopScreen();
  }

  /**
   * Reopen the device with the changed settings. If a new device fails to open, dispatch "previous". If the
   * same device fails, stop it.
   * @param {"microphone" | "camera"} device
   */
  async reopen(device) {
    const { mic, camera } = this;
    const track = device === "microphone" ? mic?.raw : camera;
    if (this.#opening.has(device))
      this.#again.add(device); // Reopen it after this attempt, with the latest settings.
    else if (track) {
      const { deviceId: previous = "" } = track.getSettings();
      // Close the device first: Chromium would reopen it with the old settings, and a phone cannot open two
      // cameras.
      if (device === "microphone") mic?.close();
      else track.stop();
      await this.#open(device, () =>
        device === "microphone" ? this.#startMic(mic?.muted) : this.#startCamera(),
      );
      const replaced = device === "microphone" ? this.mic !== mic : this.camera !== camera;
      if (replaced || this.#stopped || this.#opening.has(device)) return;
      if (previous !== this.#settings()[device]) this.#emit("previous", { [device]: previous });
      else if (device === "microphone") this.#stopMic();
      else this.#stopCamera();
    }
  }

  /**
   * Apply changed settings to the shared screen. If the browser cannot apply them, the screen stays
   * unchanged.
   */
  async reshape() {
    if (this.screen) await reshapeScreen(this.screen.video, this.#settings()).catch(() => {});
  }

  /** Release every device. A device that is still opening is released as soon as it is open. */
  stop() {
    this.#stopped = true;
    if (this.mic) this.#stopMic();
    if (this.camera) this.#stopCamera();
    if (this.screen) this.#stopScreen();
  }

  /** @param {Device} device @param {() => Promise<void>} start @returns {Promise<void>} */
  async #open(device, start) {
    if (this.#opening.has(device)) return;
    this.#opening.add(device);
    try {
      await start();
      if (this.#stopped) this.stop();
      this.#changed();
    } catch (error) {
      const sentence = explainDevice(error, device);
      if (sentence) this.#trouble(sentence);
    } finally {
      this.#opening.delete(device);
      if (device !== "screen" && this.#again.delete(device) && !this.#stopped) this.reopen(device);
    }
  }

  async #startMic(muted = false) {
    const settings = this.#settings();
    const mic = await Microphone.of(this.#checked("microphone", await openMicrophone(settings)), settings);
    const before = this.mic;
    mic.muted = muted;
    this.mic = mic;
    mic.raw.addEventListener("ended", () => this.#vanished("microphone", mic), { once: true });
    this.#call.publish("mic", mic.track);
    before?.close();
  }

  async #startCamera() {
    const before = this.camera;
    const opened = await openCamera(this.#settings());
    if (this.camera !== before) {
      opened.stop(); // The device was switched off in the meantime.
      return;
    }
    const track = this.#checked("camera", opened);
    this.camera = track;
    if (this.#settings().blur && canBlur() && !track.getSettings().backgroundBlur)
      this.#trouble(t("blur-not-here"));
    track.addEventListener("ended", () => this.#vanished("camera", track), { once: true });
    this.#call.publish("camera", track);
    before?.stop();
  }

  async #startScreen() {
    const screen = await openScreen(this.#settings());
    this.screen = screen;
    // The member can also stop sharing in the browser's own interface.
    screen.video.addEventListener("ended", () => this.#stopScreen(), { once: true });
    this.#call.publish("screen", screen.video);
    if (screen.audio) this.#call.publish("screen_audio", screen.audio);
    if (screen.echoes) this.#trouble(t("screen-silent"));
  }

  /**
   * Return the track. If it does not come from the chosen device, notify the member once.
   * @param {"microphone" | "camera"} device
   * @param {MediaStreamTrack} track
   */
  #checked(device, track) {
    const chosen = this.#settings()[device];
    const missing = chosen !== "" && track.getSettings().deviceId !== chosen;
    if (missing && !this.#missed.has(chosen))
      this.#trouble(t("device-missing", { device: t(`device-${device}`) }));
    if (missing) this.#missed.add(chosen);
    return track;
  }

  /**
   * Handle the loss of a device, for example because it was unplugged. Replace it with another device if
   * possible.
   * @param {Device} device
   * @param {Microphone | MediaStreamTrack} gone
   */
  async #vanished(device, gone) {
    if (this.#stopped || (device === "microphone" ? this.mic : this.camera) !== gone) return;
    this.#trouble(t("device-vanished", { device: t(`device-${device}`) }));
    this.#missed.add(this.#settings()[device]);
    if (device === "microphone") {
      const { muted } = gone;
      this.#stopMic();
      await this.#open(device, () => this.#startMic(muted));
    } else {
      this.#stopCamera();
      await this.#open(device, () => this.#startCamera());
    }
  }

  #stopMic() {
    const mic = /** @type {Microphone} */ (this.mic);
    this.mic = null;
    this.#call.publish("mic", null);
    mic.close();
    this.#changed();
  }

  #stopCamera() {
    const camera = /** @type {MediaStreamTrack} */ (this.camera);
    this.camera = null;
    this.#call.publish("camera", null);
    camera.stop();
    this.#changed();
  }

  #stopScreen() {
    if (!this.screen) return;
    const { video, audio } = this.screen;
    this.screen = null;
    for (const [source, track] of /** @type {const} */ ([
      ["screen", video],
      ["screen_audio", audio],
    ])) {
      if (!track) continue;
      this.#call.publish(source, null);
      track.stop();
    }
    this.#changed();
  }

  /** @param {string} sentence */
  #trouble(sentence) {
    this.#emit("trouble", sentence);
  }

  /** @param {"trouble" | "previous"} event @param {unknown} detail */
  #emit(event, detail) {
    this.dispatchEvent(new CustomEvent(event, { detail }));
  }

  #changed() {
    this.dispatchEvent(new Event("change"));
  }
}
