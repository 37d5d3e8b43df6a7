// Implements the /live socket to the chat server: authenticates, matches responses to requests by id,
// delivers each push once, and reconnects and resumes automatically. Independent of calls and of the DOM.
// Messages are JSON: {event, data, id?, seq?}.

/**
 * @import { Greeting, Requests, Resumption } from "../types/api.js"
 * @import { Data, Push, ErrorBody, Reply, TypedEventTarget } from "../types/wire.js"
 */

import { Refusal, Unreachable } from "./http.js";
import { Backoff } from "./backoff.js";
import { Heartbeat, SILENT_MS } from "./heartbeat.js";

const REPLY_DEADLINE_MS = 10_000; // The server waits equally long for our first message.
// The timeouts for connection attempts. They are short, because only a new attempt can detect that the
// network is back. Every fourth timeout is longer, for slow networks. The first is the shortest, because
// Firefox's first attempt can fail even with a working network. Parallel attempts would not help, because
// browsers open only one connection at a time to a server (RFC 6455 section 4.1).
const CONNECT_DEADLINE_MS = [2000, 4000, 4000, 8000];
// The retry interval without a network. The browser's "online" event, which is rarely wrong, usually ends the
// wait. Do not retry more often, because after failed attempts, Firefox delays each new attempt by ten
// seconds or more, even when the network is back.
const OFFLINE_MS = 15_000;
// Pushes that arrive within this time are delivered together, because each delivery rerenders the page.
const TOGETHER_MS = 100;
// The server closes a member's oldest connection with this code when there are too many.
const TOO_MANY_PAGES = 4009;

/**
 * @typedef {{resolve: (reply: {event: string, data: any}) => void, reject: (error: Error) => void, timer:
 *   number}} Waiting
 */
/** @typedef {<E extends keyof Requests>(event: E, data: Data<E>) => Promise<Reply<E>>} Asking */
/**
 * @typedef {{authenticated: Greeting, resumed: Resumption, push: Push, offline: undefined, rejected: Error,
 *   crowded: undefined}} Events
 */

/**
 * The live socket. Dispatches "authenticated" (detail: the server's greeting with the full state), "resumed"
 * (detail: the state that pushes do not cover; the missed pushes follow), "push" (detail: {event, data}) and
 * "offline". Two events end all attempts: "rejected" (detail: a Refusal; no token is available) and "crowded"
 * (we have too many connections).
 */
export class Live extends /** @type {TypedEventTarget<Events>} */ (EventTarget) {
  #url;
  #getToken;
  #nextId = 1;
  #closed = false;
  /** @type {string | null} */ #token = null;
  /** @type {string | null} */ #refused = null;
  /** @type {WebSocket | null} */ #socket = null;
  // A second socket, opened in parallel with an unresponsive one. The first of the two to respond is used.
  /** @type {WebSocket | null} */ #rival = null;
  /** @type {Map<unknown, Waiting>} */ #waiting = new Map();
  // The highest number of a processed push; null before the first greeting.
  /** @type {number | null} */ #seq = null;
  /** @type {Push[]} */ #pushes = [];
  #collecting = 0;
  #authenticated = false;
  #timer = 0;
  #backoff = new Backoff(250, 4000);
  #attempts = 0;
  #connecting = 0;
  // Retry a failed attempt as soon as the network is back.
  #online = () => {
    if (this.#timer) {
      clearTimeout(this.#timer);
      this.#open();
    } else if (this.#socket && !this.#authenticated) this.#abandon();
  };
  #heartbeat = new Heartbeat(
    () => this.#ask("ping", {}).catch(() => {}),
    () => this.#abandon(),
    () => {
      this.#rival = this.#dial();
    },
  );

  /** @type {(asking: Asking) => void} */
  #early;

  /**
   * `getToken(refused)` resolves with an access token other than `refused`. `early` is called with a function
   * like `request`. Requests made with it are sent right after our token, without waiting for the greeting.
   * @param {URL} url @param {(refused: string | null) => Promise<string>} getToken @param {(asking: Asking)
   *   => void} [early]
   */
  constructor(url, getToken, early = () => {}) {
    super();
    this.#url = url;
    this.#getToken = getToken;
    this.#early = early;
    globalThis.addEventListener?.("online", this.#online);
    this.#open();
  }

  /**
   * Send a new token, because the server closes the connection when the old token expires.
   * @param {string} token
   */
  async reauthenticate(token) {
    this.#token = token;
    if (this.#authenticated) await this.#ask("reauthenticate", { access_token: token }).catch(() => {});
  }

  /**
   * Send a request. Resolves with the response's data; rejects with Refusal, or with Unreachable if the
   * socket is not connected.
   * @template {keyof Requests} E
   * @param {E} event @param {Data<E>} data @returns {Promise<Reply<E>>}
   */
  async request(event, data) {
    if (!this.#authenticated) throw new Unreachable();
    return (await this.#ask(event, data)).data;
  }

  /**
   * Deliver the collected pushes now, because they precede a response. The next pushes may belong to that
   * response, so stop collecting.
   */
  catchUp() {
    clearTimeout(this.#collecting);
    this.#collecting = 0;
    for (const push of this.#pushes.splice(0)) this.#emit("push", push);
  }

  /**
   * Check whether this connection still works after another connection to the same server has fallen silent.
   */
  probe() {
    if (this.#authenticated) this.#heartbeat.probe(SILENT_MS);
  }

  close() {
    this.#closed = true;
    globalThis.removeEventListener?.("online", this.#online);
    clearTimeout(this.#timer);
    clearTimeout(this.#connecting);
    this.#pushes = [];
    this.#heartbeat.stop();
    this.#rival?.close();
    this.#socket?.close(1000);
  }

  async #open() {
    this.#timer = 0;
    try {
      this.#token = await this.#getToken(this.#refused);
    } catch (error) {
      if (this.#closed) return undefined;
      if (!(error instanceof Refusal) || error.passes) {
        this.#emit("offline");
        return this.#later();
      }
      this.close();
      return this.#emit("rejected", error);
    }
    if (!this.#closed) this.#connect();
    return undefined;
  }

  #connect() {
    this.#continueWith(this.#dial());
  }

  /** @param {WebSocket} socket */
  #continueWith(socket) {
    this.#socket = socket;
    this.#connecting = setTimeout(
      () => {
        this.#backoff.reset(); // The timeout has already caused a delay, so retry soon.
        this.#abandon();
      },
      CONNECT_DEADLINE_MS[this.#attempts++ % CONNECT_DEADLINE_MS.length],
    );
  }

  #dial() {
    // Send the token in the handshake as well, because the server serves unauthenticated connections last.
    const socket = new WebSocket(this.#url, ["svc.live", `svc.token.${this.#token}`]);
    // An abandoned socket may close minutes later.
    const ifCurrent = (/** @type {(event: any) => void} */ handle) => (/** @type {Event} */ event) => {
      if (this.#socket === socket) handle(event);
    };
    socket.addEventListener("open", () => {
      if (this.#rival === socket) this.#replace(socket);
    });
    socket.addEventListener(
      "open",
      ifCurrent(() => this.#authenticate()),
    );
    socket.addEventListener(
      "message",
      ifCurrent(({ data }) => {
        this.#heartbeat.received();
        this.#dismiss();
        this.#receive(JSON.parse(data));
      }),
    );
    socket.addEventListener(
      "close",
      ifCurrent(({ code }) => this.#lost(code)),
    );
    return socket;
  }

  /** Close the rival, because the current socket responds. */
  #dismiss() {
    this.#rival?.close();
    this.#rival = null;
  }

  /**
   * Continue with the rival, because it is connected and the current socket has not responded.
   * @param {WebSocket} rival
   */
  #replace(rival) {
    const before = this.#socket;
    this.#rival = null;
    this.#drop();
    before?.close();
    this.#emit("offline");
    this.#continueWith(rival);
  }

  /** Abandon a silent socket and open another one. */
  #abandon() {
    const socket = this.#socket;
    this.#socket = null;
    socket?.close();
    this.#lost();
  }

  async #authenticate() {
    let reply;
    try {
      const before = this.#seq === null ? null : { seq: this.#seq };
      const greeting = this.#ask(before ? "resume" : "authenticate", {
        access_token: this.#token,
        keeps_online: true,
        ...before,
      });
      if (!before) this.#early(async (event, data) => (await this.#ask(event, data)).data);
      reply = await greeting;
    } catch (error) {
      if (error instanceof Refusal && error.code === "token_invalid") this.#refused = this.#token;
      return this.#socket?.close(); // The "close" event schedules the next attempt.
    }
    clearTimeout(this.#connecting);
    this.#attempts = 0;
    this.#heartbeat.start();
    this.#authenticated = true;
    this.#backoff.reset();
    return this.#greet(reply.event, reply.data);
  }

  /** @param {string} event @param {any} data */
  #greet(event, data) {
    this.catchUp();
    // Ignore the number in "resumed", because it is higher than the numbers of the missed pushes that follow.
    if (event === "authenticated") this.#seq = data.seq;
    this.#emit(event, data);
  }

  /**
   * Send a request. Resolves with the response.
   * @param {string} event
   * @param {object} data
   * @returns {Promise<{event: string, data: any}>}
   */
  #ask(event, data) {
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(id);
        reject(new Unreachable());
      }, REPLY_DEADLINE_MS);
      this.#waiting.set(id, { resolve, reject, timer });
      this.#socket?.send(JSON.stringify({ event, id, data }));
    });
  }

  /** @param {{event: string, id?: number, data: any, seq?: number}} frame */
  #receive({ event, id, data, seq }) {
    const request = this.#waiting.get(id);
    if (!request) {
      // Another server process is serving us now, so it sends the full state again.
      if (event === "authenticated") this.#greet(event, data);
      if (event === "error" || event === "authenticated" || !this.#isNew(seq)) return;
      this.#pushes.push(/** @type {Push} */ ({ event, data }));
      // Do not batch while the page is hidden: it is not rendered, and its timers run late.
      if (!this.#collecting || globalThis.document?.hidden) this.#collect();
      return;
    }
    this.catchUp();
    this.#waiting.delete(id);
    clearTimeout(request.timer);
    if (event === "error") request.reject(new Refusal(data));
    else request.resolve({ event, data });
  }

  #collect() {
    this.catchUp();
    this.#collecting = setTimeout(() => {
      if (this.#pushes.length) this.#collect();
      else this.#collecting = 0;
    }, TOGETHER_MS);
  }

  /**
   * Return whether a push is new. The server does not store pushes without a number, and sends them only
   * once.
   * @param {number} [seq]
   */
  #isNew(seq) {
    if (seq === undefined) return true;
    if (this.#seq !== null && seq <= this.#seq) return false;
    this.#seq = seq;
    return true;
  }

  /** Reject all pending requests. */
  #drop() {
    this.catchUp();
    this.#dismiss();
    this.#socket = null;
    clearTimeout(this.#connecting);
    this.#heartbeat.stop();
    for (const { reject, timer } of this.#waiting.values()) {
      clearTimeout(timer);
      reject(new Unreachable());
    }
    this.#waiting.clear();
    this.#authenticated = false;
  }

  /** @param {number} [code] The socket's close code. */
  #lost(code) {
    this.#drop();
    if (this.#closed) return;
    this.#emit("offline");
    if (code === TOO_MANY_PAGES) {
      this.close();
      this.#emit("crowded");
    } else this.#later();
  }

  #later() {
    this.#timer = setTimeout(
      () => this.#open(),
      globalThis.navigator?.onLine === false ? OFFLINE_MS : this.#backoff.next(),
    );
  }

  /** @param {string} type @param {unknown} [detail] */
  #emit(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }
}
