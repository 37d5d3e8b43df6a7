// Asks every 10 s whether a connection still leads anywhere, and says so when nothing was heard 5 s later: a browser
// takes minutes to notice that its network has changed. Where there is reason to doubt, such as a network that has come
// back or a page that is seen again, it asks at once and waits for 2 s; where a call has fallen silent, for 1.5 s.
// Such a question is late after 0.3 s already, when something else may be tried beside. Knows nothing of what it asks over.

const EVERY_MS = 10_000;
const WITHIN_MS = 5000;
const IN_DOUBT_MS = 2000;
const LATE_MS = 300;
/** How long an answer may take where other packets of the same server are missing already. */
export const SILENT_MS = 1500;

export class Pulse {
  #ask; #lost; #late; #next = 0; #deadline = 0; #lateness = 0; #inDoubt = false;
  #doubt = () => this.doubt();

  /**
   * `ask()` sends something that is answered; `lost()` is called once, and the pulse has stopped by then; before it
   * `late()`, where there was doubt.
   * @param {() => void} ask @param {() => void} lost @param {() => void} [late]
   */
  constructor(ask, lost, late = () => {}) {
    this.#ask = ask;
    this.#late = late;
    this.#lost = lost;
  }

  /** The connection is there. */
  start() {
    this.stop();
    this.#later();
    globalThis.addEventListener?.("online", this.#doubt);
    globalThis.document?.addEventListener("visibilitychange", this.#doubt);
  }

  /** Has it been asked, and not answered yet? */
  get unanswered() {
    return this.#deadline !== 0;
  }

  /** Something has come over it. */
  heard() {
    clearTimeout(this.#deadline);
    clearTimeout(this.#lateness);
    this.#deadline = this.#lateness = 0;
    this.#inDoubt = false;
  }

  /** Ask now; from then on an answer is awaited. */
  ask() {
    this.#question(WITHIN_MS);
  }

  /** Ask now, and wait for no longer than a connection that is there needs. */
  doubt(withinMs = IN_DOUBT_MS) {
    if (!this.#inDoubt) this.heard(); // What was asked before may take longer than this.
    this.#inDoubt = true;
    this.#question(withinMs);
    this.#lateness ||= setTimeout(this.#late, LATE_MS);
  }

  stop() {
    clearTimeout(this.#next);
    this.heard();
    globalThis.removeEventListener?.("online", this.#doubt);
    globalThis.document?.removeEventListener("visibilitychange", this.#doubt);
  }

  /** @param {number} withinMs */
  #question(withinMs) {
    clearTimeout(this.#next);
    this.#later();
    this.#deadline ||= setTimeout(() => {
      this.stop();
      this.#lost();
    }, withinMs);
    this.#ask();
  }

  #later() {
    this.#next = setTimeout(() => this.ask(), EVERY_MS);
  }
}
