// Asks every 10 s whether a connection still leads anywhere, and says so when nothing was heard 5 s later: a browser
// takes minutes to notice that its network has changed. Asks at once when there is a network again, or the page is seen again.
// Knows nothing of what it asks over.

const EVERY_MS = 10_000;
const WITHIN_MS = 5000;

export class Pulse {
  #ask; #lost; #next = 0; #deadline = 0;
  #now = () => this.ask();

  /** `ask()` sends something that is answered; `lost()` is called once, and the pulse has stopped by then. */
  constructor(ask, lost) {
    this.#ask = ask;
    this.#lost = lost;
  }

  /** The connection is there. */
  start() {
    this.stop();
    this.#later();
    globalThis.addEventListener?.("online", this.#now);
    globalThis.document?.addEventListener("visibilitychange", this.#now);
  }

  /** Something has come over it. */
  heard() {
    clearTimeout(this.#deadline);
    this.#deadline = 0;
  }

  /** Ask now; from then on an answer is awaited. */
  ask() {
    clearTimeout(this.#next);
    this.#later();
    this.#deadline ||= setTimeout(() => {
      this.stop();
      this.#lost();
    }, WITHIN_MS);
    this.#ask();
  }

  stop() {
    clearTimeout(this.#next);
    this.heard();
    globalThis.removeEventListener?.("online", this.#now);
    globalThis.document?.removeEventListener("visibilitychange", this.#now);
  }

  #later() {
    this.#next = setTimeout(this.#now, EVERY_MS);
  }
}
