// The /live socket to the chat server: authenticates, matches replies to requests
// by id, passes pushes on, each once, and reconnects by itself, going on where it was.
// Knows nothing of calls or of the page. Frames are JSON: {event, data, id?, seq?}.

import { Refusal, Unreachable } from "./http.js";
import { Backoff } from "./backoff.js";
import { Pulse } from "./pulse.js";

const REPLY_DEADLINE_MS = 10_000; // The server allows as long for our first frame.
// An attempt to connect takes no longer at first, because a network that comes back shows only in a new one; then
// twice as long each time, because there are slow ones.
const CONNECT_DEADLINE_MS = [5000, 20_000];
const TOO_MANY_PAGES = 4009; // The server's close code for the oldest of many pages.

/**
 * Events: "authenticated" (detail: the server's greeting, which is everything), "resumed" (detail: what no push
 * tells of; those that we missed follow), "push" (detail: {event, data}), "offline", and two after which no more
 * attempts follow: "rejected" (detail: Refusal; there is no token for us) and "crowded" (too many pages of ours).
 */
export class Live extends EventTarget {
  #url; #getToken; #token = null; #refused = null; #socket = null; #nextId = 1; #waiting = new Map(); #closed = false;
  // The largest number of a push that we have taken in; null before there was a greeting.
  #seq = null;
  #authenticated = false; #timer = 0; #backoff = new Backoff(250, 4000);
  #patienceMs = CONNECT_DEADLINE_MS[0]; #connecting = 0;
  #pulse = new Pulse(() => this.#ask("ping", {}).catch(() => {}), () => this.#abandon());

  /** `getToken(refused)` resolves with an access token other than the one that was refused. */
  constructor(url, getToken) {
    super();
    this.#url = url;
    this.#getToken = getToken;
    this.#open();
  }

  /** Go on with a fresh token; without it the server ends the connection with the old one. */
  async reauthenticate(token) {
    this.#token = token;
    if (this.#authenticated) await this.#ask("reauthenticate", { access_token: token }).catch(() => {});
  }

  /** Resolves with the reply's data; rejects with a Refusal, or with an Error when the socket is not there. */
  async request(event, data) {
    if (!this.#authenticated) throw new Unreachable("The chat server cannot be reached right now.");
    return (await this.#ask(event, data)).data;
  }

  close() {
    this.#closed = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#connecting);
    this.#pulse.stop();
    this.#socket?.close(1000);
  }

  async #open() {
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
    const socket = new WebSocket(this.#url);
    this.#socket = socket;
    this.#connecting = setTimeout(() => {
      this.#patienceMs = Math.min(2 * this.#patienceMs, CONNECT_DEADLINE_MS[1]);
      this.#abandon();
    }, this.#patienceMs);
    // An abandoned socket may end minutes later.
    const whileOurs = (handle) => (event) => { if (this.#socket === socket) handle(event); };
    socket.addEventListener("open", whileOurs(() => this.#authenticate()));
    socket.addEventListener("message", whileOurs(({ data }) => {
      this.#pulse.heard();
      this.#receive(JSON.parse(data));
    }));
    socket.addEventListener("close", whileOurs(({ code }) => this.#lost(code)));
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
      reply = await this.#ask(before ? "resume" : "authenticate", { access_token: this.#token, ...before });
    } catch (error) {
      if (error.code === "token_invalid") this.#refused = this.#token;
      return this.#socket?.close(); // Then try again.
    }
    clearTimeout(this.#connecting);
    this.#patienceMs = CONNECT_DEADLINE_MS[0];
    this.#pulse.start();
    this.#authenticated = true;
    this.#backoff.reset();
    // That of "resumed" is larger than those of the pushes that follow it.
    if (reply.event === "authenticated") this.#seq = reply.data.seq;
    return this.#tell(reply.event, reply.data);
  }

  /** Resolves with the reply, {event, data}. */
  #ask(event, data) {
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(id);
        reject(new Unreachable("The chat server did not answer in time."));
      }, REPLY_DEADLINE_MS);
      this.#waiting.set(id, { resolve, reject, timer });
      this.#socket.send(JSON.stringify({ event, id, data }));
    });
  }

  #receive({ event, id, data, seq }) {
    const request = this.#waiting.get(id);
    if (!request) {
      if (event !== "error" && this.#isNew(seq)) this.#tell("push", { event, data });
      return;
    }
    this.#waiting.delete(id);
    clearTimeout(request.timer);
    if (event === "error") request.reject(new Refusal(data));
    else request.resolve({ event, data });
  }

  /** Pushes without a number are not kept by the server, and come only once. */
  #isNew(seq) {
    if (seq === undefined) return true;
    if (this.#seq !== null && seq <= this.#seq) return false;
    this.#seq = seq;
    return true;
  }

  #lost(code) {
    clearTimeout(this.#connecting);
    this.#pulse.stop();
    for (const { reject, timer } of this.#waiting.values()) {
      clearTimeout(timer);
      reject(new Unreachable("The connection to the chat server was lost."));
    }
    this.#waiting.clear();
    this.#authenticated = false;
    if (this.#closed) return;
    this.#tell("offline");
    if (code === TOO_MANY_PAGES) {
      this.close();
      this.#tell("crowded");
    } else this.#later();
  }

  #later() {
    this.#timer = setTimeout(() => this.#open(), this.#backoff.next());
  }

  #tell(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }
}
