// Implements the signalling socket for one session with the SFU. If the socket breaks while media continues,
// the session is resumed over another socket. Passes messages on without interpreting them.
//
// A message is {event, data}, where data is a JSON string.

import { Backoff, pause } from "../transport/backoff.js";
import { Heartbeat } from "../transport/heartbeat.js";

// The close code for an interruption. We may reconnect soon, so the other members keep our tile.
const LOST = 4000;
// Close codes that the network may have caused: no close frame (1005 or 1006), a chat server that is stopping
// (1012), or LOST.
const BREAKS = new Set([1005, 1006, 1012, LOST]);
const RETRY_FIRST_MS = 100,
  RETRY_MOST_MS = 1000;
// An attempt can hang while the chat server starts, or indefinitely if the network is gone.
const ATTEMPT_MS = 5000;
// If media is still flowing, packets arrive within this time, because even a silent microphone sends two per
// second.
const LISTEN_MS = 600;
// The kind of ending for each of the SFU's close codes. All other codes mean "lost".
const ENDINGS = { 4001: "replaced", 4003: "refused", 4004: "removed" };

/**
 * The signalling socket of a session. `receive(event, data)` receives each message. `closed(kind, reason)` is
 * called when the session has ended; `kind` is "lost" or one of ENDINGS. `unreachable()` is called when the
 * SFU does not respond. `reachable()` returns whether the chat server responds, `mediaFlows()` whether the
 * media connection is up, and `received()` the number of bytes received.
 * @typedef {{receive: (event: string, data: string) => void, closed: (kind: string, reason: string | null) =>
 *   void, unreachable: () => void, reachable: () => boolean, mediaFlows: () => boolean,
 *   received: () => Promise<number>}} SessionPort
 */
export class Signalling {
  #url;
  #session;
  /**
   * The credential for resuming this session over another socket.
   * @type {{credential: string, within_s: number} | null}
   */
  #ticket = null;
  /**
   * The state of the reconnection; null while a socket is connected to the SFU.
   * @type {{until: number, reached: boolean, backoff: Backoff, resting: AbortController} | null}
   */
  #away = null;
  #heartbeat = new Heartbeat(
    () => this.send("keep_alive", { timestamp: Date.now() }),
    () => this.#unanswered(),
  );
  #socket;

  /**
   * Open the socket and send the first message.
   * @param {URL} url @param {string} event @param {unknown} data @param {SessionPort} session
   */
  constructor(url, event, data, session) {
    this.#url = url;
    this.#session = session;
    this.#socket = this.#open(event, data);
  }

  /** The current socket. An offer that arrived on an earlier socket needs no answer. */
  get socket() {
    return this.#socket;
  }

  /** Whether the session is waiting for another socket. */
  get isAway() {
    return this.#away !== null;
  }

  /** Whether a socket is connected to the SFU. */
  get isOpen() {
    return !this.#away && this.#socket.readyState === WebSocket.OPEN;
  }

  /** Whether the last liveness check is still unanswered. */
  get unanswered() {
    return this.#heartbeat.unanswered;
  }

  /** Store the credential for resuming the session. @param {any} ticket */
  keepTicket(ticket) {
    this.#ticket = ticket;
  }

  /** React to the SFU resuming the session. */
  resumed() {
    this.#away = null;
  }

  /** Check whether the SFU still responds. It may only be frozen, so use the usual timeout. */
  probe() {
    if (!this.#away) this.#heartbeat.ask();
  }

  /** Resume the session now if it is interrupted. Return whether it was interrupted. */
  reconnect() {
    this.#away?.resting.abort();
    return this.#away !== null;
  }

  /** @param {string} event @param {unknown} data */
  send(event, data) {
    if (this.#socket.readyState !== WebSocket.OPEN) return;
    this.#socket.send(JSON.stringify({ event, data: JSON.stringify(data) }));
  }

  /** End the session. `left` means that we are leaving by choice. @param {boolean} left */
  close(left) {
    this.#ticket = this.#away = null;
    this.#heartbeat.stop();
    this.#socket.close(left ? 1000 : LOST);
  }

  /** @param {string} event @param {unknown} data The first message. */
  #open(event, data) {
    const socket = new WebSocket(this.#url);
    const attempt =
      event === "client_resume"
        ? setTimeout(() => {
            if (this.#away) this.#away.reached = false; // A timeout proves nothing about the SFU.
            socket.close();
          }, ATTEMPT_MS)
        : 0;
    socket.addEventListener("open", () => {
      clearTimeout(attempt);
      this.send(event, data);
      this.#heartbeat.start();
    });
    socket.addEventListener("message", (message) => {
      if (socket !== this.#socket) return;
      this.#heartbeat.received();
      const frame = JSON.parse(message.data);
      this.#session.receive(frame.event, frame.data);
    });
    socket.addEventListener("close", ({ code, reason }) => {
      clearTimeout(attempt);
      if (socket !== this.#socket) return; // An abandoned socket may close minutes later.
      let kind = ENDINGS[/** @type {keyof typeof ENDINGS} */ (code)] ?? "lost";
      if (this.#away && kind === "refused") kind = "lost"; // The session is over, but a new one can start.
      if (BREAKS.has(code) && this.#ticket && this.#session.mediaFlows()) this.#takeUp(this.#ticket);
      else this.#session.closed(kind, reason);
    });
    return socket;
  }

  /** Handle a socket that does not respond. If media still arrives, only the socket is dead. */
  async #unanswered() {
    const [ticket, socket] = [this.#ticket, this.#socket];
    const before = await this.#session.received();
    await pause(LISTEN_MS);
    const goesOn = (await this.#session.received()) > before;
    if (ticket !== this.#ticket || socket !== this.#socket) return; // The session has ended in the meantime.
    if (!ticket || !goesOn || !this.#session.mediaFlows()) {
      this.#session.unreachable();
      return;
    }
    this.#takeUp(ticket);
    socket.close(LOST);
  }

  /**
   * Resume the session over a new socket, because the old socket broke while media continued. If the chat
   * server responded both before and after a failed attempt, the SFU caused the failure.
   * @param {{credential: string, within_s: number}} ticket
   */
  async #takeUp({ credential, within_s: withinS }) {
    this.#heartbeat.stop();
    const resting = new AbortController();
    if (this.#away) {
      this.#away.resting = resting;
      await pause(this.#away.backoff.next(), resting.signal);
      if (!this.#away) return; // The session has ended.
    } else
      this.#away = {
        until: performance.now() + withinS * 1000,
        reached: false,
        backoff: new Backoff(RETRY_FIRST_MS, RETRY_MOST_MS),
        resting,
      };
    const away = this.#away;
    const reached = this.#session.reachable();
    if (performance.now() > away.until || (away.reached && reached)) this.#session.closed("lost", null);
    else {
      away.reached = reached;
      this.#socket = this.#open("client_resume", { credential });
    }
  }
}
