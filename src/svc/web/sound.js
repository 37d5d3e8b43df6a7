// Plays what others say, one <audio> element per received track. Shows nothing.

export class Sound {
  #holder; #onBlocked;

  /** `holder` keeps the elements; `onBlocked(bool)` hears whether the browser wants a gesture first. */
  constructor(holder, onBlocked) {
    this.#holder = holder;
    this.#onBlocked = onBlocked;
  }

  /** `tracks`: the call's tracks; those that are no sound are ignored. */
  render(tracks) {
    const wanted = new Map(tracks.filter(({ receiver }) => receiver.track.kind === "audio")
      .map(({ receiver }) => [receiver.track.id, receiver.track]));
    for (const element of [...this.#holder.children]) {
      if (!wanted.delete(element.dataset.id)) element.remove();
    }
    for (const [id, track] of wanted) {
      const element = document.createElement("audio");
      element.dataset.id = id;
      element.srcObject = new MediaStream([track]);
      this.#holder.append(element);
    }
    this.play();
  }

  async play() {
    const attempts = [...this.#holder.children].filter(({ paused }) => paused).map((element) => element.play());
    const blocked = await Promise.allSettled(attempts);
    this.#onBlocked(blocked.some(({ reason }) => reason?.name === "NotAllowedError"));
  }
}
