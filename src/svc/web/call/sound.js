// Plays what others say, one <audio> element per received track, as loud as the person wants each. Shows nothing.

const GAIN_ABOVE = 1; // An element plays no louder than this; beyond it the Web Audio graph does.

export class Sound {
  #playing = new Map(); #onBlocked; #silent = false; #volume; #speaker = ""; #context = null;

  /**
   * `onBlocked(bool)` hears whether the browser wants a gesture first; `volume(userId, source)` says how loud
   * somebody shall be, 0 to 2.
   */
  constructor(onBlocked, volume) {
    this.#onBlocked = onBlocked;
    this.#volume = volume;
    // A phone that was locked, or rang, may have paused what plays.
    document.addEventListener("visibilitychange", () => { if (!document.hidden) this.play(); });
  }

  /** `tracks`: the call's tracks; those that are no sound are ignored. */
  render(tracks) {
    const wanted = new Map(tracks.filter(({ receiver }) => receiver.track.kind === "audio")
      .map((track) => [track.receiver.track.id, track]));
    for (const [id, each] of this.#playing) {
      if (wanted.delete(id)) continue;
      each.element.srcObject = null;
      each.amplifier?.disconnect();
      this.#playing.delete(id);
    }
    for (const [id, { receiver, userId, source }] of wanted) {
      const element = new Audio();
      element.srcObject = new MediaStream([receiver.track]);
      if (this.#speaker) element.setSinkId?.(this.#speaker).catch(() => {});
      this.#playing.set(id, { element, userId, source, amplifier: null });
    }
    this.setVolumes();
    this.play();
  }

  /** Play nothing that can be heard, or everything again. */
  silence(silent) {
    this.#silent = silent;
    this.setVolumes();
  }

  /** Ask again how loud each shall be. */
  setVolumes() {
    for (const each of this.#playing.values()) {
      const volume = this.#silent ? 0 : this.#volume(each.userId, each.source);
      if (volume > GAIN_ABOVE && !each.amplifier) each.amplifier = this.#amplify(each.element.srcObject);
      if (each.amplifier) each.amplifier.gain.value = volume;
      each.element.volume = Math.min(volume, GAIN_ABOVE);
      // Until the browser lets the graph play, the element is better than silence.
      each.element.muted = volume === 0 || (each.amplifier !== null && this.#context.state === "running");
    }
  }

  /** Play on this loudspeaker; "" for the browser's own choice. */
  async speakTo(speaker) {
    this.#speaker = speaker;
    const all = [...this.#playing.values()].map(({ element }) => element);
    await Promise.allSettled([...all, this.#context].map((each) => each?.setSinkId?.(speaker)));
  }

  async play() {
    this.#resume();
    const attempts = [...this.#playing.values()].filter(({ element }) => element.paused).map(({ element }) => element.play());
    const blocked = await Promise.allSettled(attempts);
    this.#onBlocked(blocked.some(({ reason }) => reason?.name === "NotAllowedError"));
  }

  #amplify(stream) {
    if (!this.#context) this.#openGraph();
    const gain = this.#context.createGain();
    this.#context.createMediaStreamSource(stream).connect(gain).connect(this.#context.destination);
    return gain;
  }
  #openGraph() {
    this.#context = new AudioContext();
    if (this.#speaker) this.#context.setSinkId?.(this.#speaker).catch(() => {});
    this.#context.addEventListener("statechange", () => this.setVolumes());
    // Browsers let it play after a gesture, and not by themselves.
    for (const gesture of ["click", "keydown"]) addEventListener(gesture, () => this.#resume());
  }

  #resume() {
    if (this.#context && this.#context.state !== "running") this.#context.resume().catch(() => {});
  }
}
