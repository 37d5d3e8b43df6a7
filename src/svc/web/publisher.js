// Our own microphone, camera and screen in a call: opened, published, muted,
// stopped. Knows neither the page nor the SFU's lines.

import { explain, openCamera, openMicrophone, openScreen } from "./media.js";

/** Events: "change" after any property changed, "trouble" with a sentence for the person as detail. */
export class Publisher extends EventTarget {
  mic = null;
  muted = false;
  camera = null;
  screen = null;

  #call; #opening = new Set(); #stopped = false;

  constructor(call) {
    super();
    this.#call = call;
  }

  /** Open the microphone, or mute it, or unmute it. A muted microphone stays open and sends silence. */
  async toggleMic() {
    if (!this.mic) return this.#open("microphone", async () => this.#startMic(await openMicrophone()));
    this.muted = !this.muted;
    this.mic.enabled = !this.muted;
    return this.#changed();
  }

  async toggleCamera() {
    if (this.camera) return this.#stopCamera();
    return this.#open("camera", async () => this.#startCamera(await openCamera()));
  }

  async toggleScreen() {
    if (this.screen) return this.#stopScreen();
    return this.#open("screen", async () => this.#startScreen(await openScreen()));
  }

  /** Give every device back; what is still being opened is given back as soon as it is there. */
  stop() {
    this.#stopped = true;
    if (this.mic) this.#stopMic();
    if (this.camera) this.#stopCamera();
    if (this.screen) this.#stopScreen();
  }

  async #open(device, start) {
    if (this.#opening.has(device)) return;
    this.#opening.add(device);
    try {
      await start();
      if (this.#stopped) this.stop();
      this.#changed();
    } catch (error) {
      const sentence = explain(error, device);
      if (sentence) this.dispatchEvent(new CustomEvent("trouble", { detail: sentence }));
    } finally {
      this.#opening.delete(device);
    }
  }

  #startMic(track) {
    this.mic = track;
    this.muted = false;
    this.#publish("mic", track, () => this.#stopMic());
  }

  #startCamera(track) {
    this.camera = track;
    this.#publish("camera", track, () => this.#stopCamera());
  }

  #startScreen(screen) {
    this.screen = screen;
    this.#publish("screen", screen.video, () => this.#stopScreen());
    if (screen.audio) this.#call.publish("screen_audio", screen.audio);
  }

  #stopMic() {
    this.#takeDown("mic", this.mic);
    this.mic = null;
    this.#changed();
  }

  #stopCamera() {
    this.#takeDown("camera", this.camera);
    this.camera = null;
    this.#changed();
  }

  #stopScreen() {
    this.#takeDown("screen", this.screen.video);
    if (this.screen.audio) this.#takeDown("screen_audio", this.screen.audio);
    this.screen = null;
    this.#changed();
  }

  /** `onEnded` runs when the device goes away or sharing is stopped in the browser's own bar, not when we stop it. */
  #publish(source, track, onEnded) {
    track.addEventListener("ended", onEnded, { once: true });
    this.#call.publish(source, track);
  }

  #takeDown(source, track) {
    this.#call.publish(source, null);
    track.stop();
  }

  #changed() {
    this.dispatchEvent(new Event("change"));
  }
}
