// The /live socket to the chat server: authenticates, matches replies to requests
// by id, passes pushes on, each once, and reconnects by itself, going on where it was.
// Knows nothing of calls or of the page. Frames are JSON: {event, data, id?, seq?}.

/**
 * @import { Greeting, Requests, Resumption } from "../types/api.js"
 * @import { Data, Push, Refused, Reply, Telling } from "../types/wire.js"
 */

import { Refusal, Unreachable } from "./http.js";
import { Backoff } from "./backoff.js";
import { Pulse, SILENT_MS } from "./pulse.js";

const REPLY_DEADLINE_MS = 10_000; // The server allows as long for our first frame.
// An attempt to connect takes no longer, because a network that comes back shows only in a new one; but for every
// fourth, because there are slow ones. The first of Firefox may lead nowhere though there is a network. Browsers connect
// one socket at a time to the same server (RFC 6455 section 4.1), so a second one beside it would only wait for it.
const CONNECT_DEADLINE_MS = [2000, 4000, 4000, 8000];
// Without a network it waits for the browser to tell of one, which is seldom wrong: Firefox puts each attempt off for
// longer after those that failed, by ten seconds and more when there is a network again.
const OFFLINE_MS = 15_000;
// Pushes that come within this time of the last are told together: each time, the page is drawn.
const TOGETHER_MS = 100;
const TOO_MANY_PAGES = 4009; // The server's close code for the oldest of many pages.

/** @typedef {{resolve: (reply: {event: string, data: any}) => void, reject: (error: Error) => void, timer: number}} Waiting */
/** @typedef {<E extends keyof Requests>(event: E, data: Data<E>) => Promise<Reply<E>>} Asking */
/** @typedef {{authenticated: Greeting, resumed: Resumption, push: Push, offline: undefined, rejected: Error, crowded: undefined}} Events */

/**
 * Events: "authenticated" (detail: the server's greeting, which is everything), "resumed" (detail: what no push
 * tells of; those that we missed follow), "push" (detail: {event, data}), "offline", and two after which no more
 * attempts follow: "rejected" (detail: Refusal; there is no token for us) and "crowded" (too many pages of ours).
 */
export class Live extends /** @type {Telling<Events>} */ (EventTarget) {
  #url; #getToken; #nextId = 1; #closed = false;
  /** @type {string | null} */ #token = null;
  /** @type {string | null} */ #refused = null;
  /** @type {WebSocket | null} */ #socket = null;
  // Is opened beside one that does not answer; whichever is there first is the one to go on with.
  /** @type {WebSocket | null} */ #rival = null;
  /** @type {Map<unknown, Waiting>} */ #waiting = new Map();
  // The largest number of a push that we have taken in; null before there was a greeting.
  /** @type {number | null} */ #seq = null;
  /** @type {Push[]} */ #pushes = []; #gathering = 0;
  #authenticated = false; #timer = 0; #backoff = new Backoff(250, 4000);
  #attempts = 0; #connecting = 0;
  // What was in vain without a network is tried at once when there is one.
  #online = () => {
    if (this.#timer) {
      clearTimeout(this.#timer);
      this.#open();
    } else if (this.#socket && !this.#authenticated) this.#abandon();
  };
  #pulse = new Pulse(() => this.#ask("ping", {}).catch(() => {}), () => this.#abandon(), () => { this.#rival = this.#dial(); });

  /** @type {(asking: Asking) => void} */
  #early;

  /**
   * `getToken(refused)` resolves with an access token other than the one that was refused. `early` takes a function
   * that asks as `request` does; what it asks goes out behind our token, and does not wait for the greeting.
   * @param {URL} url @param {(refused: string | null) => Promise<string>} getToken @param {(asking: Asking) => void} [early]
   */
  constructor(url, getToken, early = () => {}) {
    super();
    this.#url = url;
    this.#getToken = getToken;
    this.#early = early;
    globalThis.addEventListener?.("online", this.#online);
    this.#open();
  }

  /** Go on with a fresh token; without it the server ends the connection with the old one. @param {string} token */
  async reauthenticate(token) {
    this.#token = token;
    if (this.#authenticated) await this.#ask("reauthenticate", { access_token: token }).catch(() => {});
  }

  /**
   * Resolves with the reply's data; rejects with a Refusal, or with an Error when the socket is not there.
   * @template {keyof Requests} E
   * @param {E} event @param {Data<E>} data @returns {Promise<Reply<E>>}
   */
  async request(event, data) {
    if (!this.#authenticated) throw new Unreachable();
    return (await this.#ask(event, data)).data;
  }

  /** There is an answer: tell what was pushed before it, and do not hold back what comes next, which may belong to it. */
  catchUp() {
    clearTimeout(this.#gathering);
    this.#gathering = 0;
    for (const push of this.#pushes.splice(0)) this.#tell("push", push);
  }

  /** Another connection to the same server has fallen silent: does this one answer? */
  doubt() {
    if (this.#authenticated) this.#pulse.doubt(SILENT_MS);
  }

  close() {
    this.#closed = true;
    globalThis.removeEventListener?.("online", this.#online);
    clearTimeout(this.#timer);
    clearTimeout(this.#connecting);
    this.#pushes = [];
    this.#pulse.stop();
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
        this.#tell("offline");
        return this.#later();
      }
      this.close();
      return this.#tell("rejected", error);
    }
    if (!this.#closed) this.#connect();
    return undefined;
  }

  #connect() {
    this.#goOnWith(this.#dial());
  }

  /** @param {WebSocket} socket */
  #goOnWith(socket) {
    this.#socket = socket;
    this.#connecting = setTimeout(() => {
      this.#backoff.reset(); // It has waited long enough.
      this.#abandon();
    }, CONNECT_DEADLINE_MS[this.#attempts++ % CONNECT_DEADLINE_MS.length]);
  }

  #dial() {
    // The token is shown in the handshake too: the server handles whoever shows one before strangers.
    const socket = new WebSocket(this.#url, ["svc.live", `svc.token.${this.#token}`]);
    // An abandoned socket may end minutes later.
    const whileOurs = (/** @type {(event: any) => void} */ handle) => (/** @type {Event} */ event) => { if (this.#socket === socket) handle(event); };
    socket.addEventListener("open", () => { if (this.#rival === socket) this.#replace(socket); });
    socket.addEventListener("open", whileOurs(() => this.#authenticate()));
    socket.addEventListener("message", whileOurs(({ data }) => {
      this.#pulse.heard();
      this.#dismiss();
      this.#receive(JSON.parse(data));
    }));
    socket.addEventListener("close", whileOurs(({ code }) => this.#lost(code)));
    return socket;
  }

  /** The one that we have answers. */
  #dismiss() {
    this.#rival?.close();
    this.#rival = null;
  }

  /** The other one is there, and the one that we have has not answered meanwhile. @param {WebSocket} rival */
  #replace(rival) {
    const before = this.#socket;
    this.#rival = null;
    this.#drop();
    before?.close();
    this.#tell("offline");
    this.#goOnWith(rival);
  }

  /** Nothing comes over this socket any more; go on with another one. */
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
      const greeting = this.#ask(before ? "resume" : "authenticate", { access_token: this.#token, ...before });
      if (!before) this.#early(async (event, data) => (await this.#ask(event, data)).data);
      reply = await greeting;
    } catch (error) {
      if (error instanceof Refusal && error.code === "token_invalid") this.#refused = this.#token;
      return this.#socket?.close(); // Then try again.
    }
    clearTimeout(this.#connecting);
    this.#attempts = 0;
    this.#pulse.start();
    this.#authenticated = true;
    this.#backoff.reset();
    // That of "resumed" is larger than those of the pushes that follow it.
    if (reply.event === "authenticated") this.#seq = reply.data.seq;
    return this.#tell(reply.event, reply.data);
  }

  /** Resolves with the reply. @param {string} event @param {object} data @returns {Promise<{event: string, data: any}>} */
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
      if (event === "error" || !this.#isNew(seq)) return;
      this.#pushes.push(/** @type {Push} */ ({ event, data }));
      // Nothing is drawn for a page that is hidden, where timers are late.
      if (!this.#gathering || globalThis.document?.hidden) this.#gather();
      return;
    }
    this.catchUp();
    this.#waiting.delete(id);
    clearTimeout(request.timer);
    if (event === "error") request.reject(new Refusal(data));
    else request.resolve({ event, data });
  }

  #gather() {
    this.catchUp();
    this.#gathering = setTimeout(() => {
      if (this.#pushes.length) this.#gather();
      else this.#gathering = 0;
    }, TOGETHER_MS);
  }

  /** Pushes without a number are not kept by the server, and come only once. @param {number} [seq] */
  #isNew(seq) {
    if (seq === undefined) return true;
    if (this.#seq !== null && seq <= this.#seq) return false;
    this.#seq = seq;
    return true;
  }

  /** What was asked is not answered any more. */
  #drop() {
    this.catchUp();
    this.#dismiss();
    this.#socket = null;
    clearTimeout(this.#connecting);
    this.#pulse.stop();
    for (const { reject, timer } of this.#waiting.values()) {
      clearTimeout(timer);
      reject(new Unreachable());
    }
    this.#waiting.clear();
    this.#authenticated = false;
  }

  /** @param {number} [code] that the socket was closed with */
  #lost(code) {
    this.#drop();
    if (this.#closed) return;
    this.#tell("offline");
    if (code === TOO_MANY_PAGES) {
      this.close();
      this.#tell("crowded");
    } else this.#later();
  }

  #later() {
    this.#timer = setTimeout(() => this.#open(), globalThis.navigator?.onLine === false ? OFFLINE_MS : this.#backoff.next());
  }

  /** @param {string} type @param {unknown} [detail] */
  #tell(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }
}
