// Checks that a connection is alive, because browsers need minutes to notice that their network has changed.
// Sends a probe every 10 s, and reports the connection as lost if nothing arrives within 5 s. When in doubt,
// such as after a network change or when the page becomes visible, it sends a probe immediately and waits for
// only 2 s, or 1.5 s if a call has fallen silent. Such a probe counts as late after 0.3 s, so that the caller
// can try another connection in parallel. Independent of the type of connection.

const EVERY_MS = 10_000;
const WITHIN_MS = 5000;
const IN_DOUBT_MS = 2000;
const LATE_MS = 300;
/** The timeout for a response when packets from the same server are already overdue. */
export const SILENT_MS = 1500;

export class Heartbeat {
  #ask;
  #lost;
  #late;
  #next = 0;
  #deadline = 0;
  #lateness = 0;
  #inDoubt = false;
  #probe = () => this.probe();

  /**
   * `ask()` sends a probe. `lost()` is called once, when the connection is lost. `late()` is called when a
   * probe's response is late.
   * @param {() => void} ask @param {() => void} lost @param {() => void} [late]
   */
  constructor(ask, lost, late = () => {}) {
    this.#ask = ask;
    this.#late = late;
    this.#lost = lost;
  }

  /** Start the checks, once the connection has opened. */
  start() {
    this.stop();
    this.#schedule();
    globalThis.addEventListener?.("online", this.#probe);
    globalThis.document?.addEventListener("visibilitychange", this.#probe);
  }

  /** Whether the last probe is still unanswered. */
  get unanswered() {
    return this.#deadline !== 0;
  }

  /** Record that a packet has arrived. */
  received() {
    clearTimeout(this.#deadline);
    clearTimeout(this.#lateness);
    this.#deadline = this.#lateness = 0;
    this.#inDoubt = false;
  }

  /** Send a probe now and expect a response. */
  ask() {
    this.#send(WITHIN_MS);
  }

  /** Send a probe now, with a short timeout, because the connection may be dead. */
  probe(withinMs = IN_DOUBT_MS) {
    if (!this.#inDoubt) this.received(); // An earlier probe has a longer timeout.
    this.#inDoubt = true;
    this.#send(withinMs);
    this.#lateness ||= setTimeout(this.#late, LATE_MS);
  }

  stop() {
    clearTimeout(this.#next);
    this.received();
    globalThis.removeEventListener?.("online", this.#probe);
    globalThis.document?.removeEventListener("visibilitychange", this.#probe);
  }

  /** @param {number} withinMs */
  #send(withinMs) {
    clearTimeout(this.#next);
    this.#schedule();
    this.#deadline ||= setTimeout(() => {
      this.stop();
      this.#lost();
    }, withinMs);
    this.#ask();
  }

  #schedule() {
    this.#next = setTimeout(() => this.ask(), EVERY_MS);
  }
}
