// Plays the received audio with one <audio> element per track, at the volume chosen for each member.

/** @import { Track } from "./session.js" */
/**
 * `out` is the amplified stream if a media element plays it, or null if the context plays it. Only media
 * elements can select the output device in every browser.
 * @typedef {{gain: GainNode, out: MediaStream | null}} Amplifier
 * @typedef {{element: HTMLAudioElement, stream: MediaStream, userId: string, source: string, amplifier:
 *   Amplifier | null}} Playing
 */

const GAIN_ABOVE = 1; // A media element's maximum volume. Higher volumes need the Web Audio graph.

export class Sound {
  /** @type {Map<string, Playing>} */
  #playing = new Map();
  #onBlocked;
  #silent = false;
  #volume;
  #speaker = "";
  /** @type {AudioContext | null} */
  #context = null;

  /**
   * `onBlocked(blocked)` reports whether the browser requires a gesture before it plays audio.
   * `volume(userId, source)` returns the volume for a member, 0 to 2.
   * @param {(blocked: boolean) => void} onBlocked @param {(userId: string, source: string) => number} volume
   */
  constructor(onBlocked, volume) {
    this.#onBlocked = onBlocked;
    this.#volume = volume;
    // A phone may have paused the elements while it was locked or ringing.
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden) this.play();
    });
  }

  /** Play the audio tracks in this list and stop all others. @param {Track[]} tracks */
  render(tracks) {
    const wanted = new Map(
      tracks
        .filter(({ receiver }) => receiver.track.kind === "audio")
        .map((track) => [track.receiver.track.id, track]),
    );
    for (const [id, sound] of this.#playing) {
      if (wanted.delete(id)) continue;
      sound.element.srcObject = null;
      sound.amplifier?.gain.disconnect();
      this.#playing.delete(id);
    }
    for (const [id, { receiver, userId, source }] of wanted) {
      const [element, stream] = [new Audio(), new MediaStream([receiver.track])];
      if (this.#speaker) element.setSinkId?.(this.#speaker).catch(() => {});
      this.#playing.set(id, { element, stream, userId, source, amplifier: null });
    }
    this.setVolumes();
    this.play();
  }

  /** Mute or unmute all received audio. @param {boolean} silent */
  silence(silent) {
    this.#silent = silent;
    this.setVolumes();
  }

  /** Update the volume of each track. */
  setVolumes() {
    for (const sound of this.#playing.values()) {
      const volume = this.#silent ? 0 : this.#volume(sound.userId, sound.source);
      if (volume > GAIN_ABOVE && !sound.amplifier) sound.amplifier = this.#amplify(sound.stream);
      if (sound.amplifier) sound.amplifier.gain.gain.value = volume;
      // Until the browser lets the graph run, play through the element, although this limits the volume to 1.
      const amplified = this.#context?.state === "running" ? sound.amplifier : null;
      sound.element.volume = amplified?.out ? GAIN_ABOVE : Math.min(volume, GAIN_ABOVE);
      sound.element.muted = volume === 0 || (amplified !== null && !amplified.out);
      const stream = amplified?.out ?? sound.stream;
      if (sound.element.srcObject === stream) continue;
      const begun = sound.element.srcObject !== null;
      sound.element.srcObject = stream;
      if (begun) sound.element.play().catch(() => {});
    }
  }

  /** Select the output device; "" selects the browser's default. @param {string} speaker */
  async speakTo(speaker) {
    this.#speaker = speaker;
    const all = [...this.#playing.values()].map(({ element }) => element);
    await Promise.allSettled([...all, this.#context].map((output) => output?.setSinkId?.(speaker)));
  }

  async play() {
    this.#resume();
    const attempts = [...this.#playing.values()]
      .filter(({ element }) => element.paused)
      .map(({ element }) => element.play());
    const blocked = await Promise.allSettled(attempts);
    this.#onBlocked(
      blocked.some((result) => result.status === "rejected" && result.reason.name === "NotAllowedError"),
    );
  }

  /** @param {MediaStream} stream @returns {Amplifier} */
  #amplify(stream) {
    const context = this.#context ?? this.#openGraph();
    const gain = context.createGain();
    const out = "setSinkId" in context ? null : context.createMediaStreamDestination();
    context
      .createMediaStreamSource(stream)
      .connect(gain)
      .connect(out ?? context.destination);
    return { gain, out: out?.stream ?? null };
  }
  #openGraph() {
    const context = (this.#context = new AudioContext());
    if (this.#speaker) context.setSinkId?.(this.#speaker).catch(() => {});
    context.addEventListener("statechange", () => this.setVolumes());
    // Browsers start the graph only after a gesture.
    for (const gesture of ["click", "keydown"]) addEventListener(gesture, () => this.#resume());
    return context;
  }

  #resume() {
    if (this.#context && this.#context.state !== "running") this.#context.resume().catch(() => {});
  }
}
