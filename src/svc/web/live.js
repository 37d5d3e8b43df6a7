// The /live socket to the chat server: authenticates, matches replies to requests
// by id, passes pushes on, and reconnects by itself. Knows nothing of calls or of
// the page. Frames are JSON: {event, data, id?}.

import { Refusal } from "./api.js";
import { Backoff } from "./backoff.js";

const REPLY_DEADLINE_MS = 10_000; // The server allows as long for our first frame.

/**
 * Events: "authenticated" (detail: the server's greeting), "push" (detail: {event, data}),
 * "offline", and "rejected" (detail: Refusal; there is no token for us, no more attempts follow).
 */
export class Live extends EventTarget {
  #url; #getToken; #token = null; #refused = null; #socket = null; #nextId = 1; #waiting = new Map(); #closed = false;
  #authenticated = false; #timer = 0; #backoff = new Backoff(250, 4000);

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
  request(event, data) {
    if (!this.#authenticated) return Promise.reject(new Error("The chat server cannot be reached right now."));
    return this.#ask(event, data);
  }

  close() {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#socket?.close(1000);
  }

  async #open() {
    try {
      this.#token = await this.#getToken(this.#refused);
    } catch (error) {
      if (this.#closed) return undefined;
      if (!(error instanceof Refusal) || error.passes) return this.#later();
      this.close();
      return this.#tell("rejected", error);
    }
    if (!this.#closed) this.#connect();
    return undefined;
  }

  #connect() {
    const socket = new WebSocket(this.#url);
    this.#socket = socket;
    socket.addEventListener("open", () => this.#authenticate());
    socket.addEventListener("message", ({ data }) => this.#receive(JSON.parse(data)));
    socket.addEventListener("close", () => this.#lost());
  }

  async #authenticate() {
    let greeting;
    try {
      greeting = await this.#ask("authenticate", { access_token: this.#token });
    } catch (error) {
      if (error.code === "token_invalid") this.#refused = this.#token;
      return this.#socket.close(); // Then try again.
    }
    this.#authenticated = true;
    this.#backoff.reset();
    return this.#tell("authenticated", greeting);
  }

  #ask(event, data) {
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(id);
        reject(new Error("The chat server did not answer in time."));
      }, REPLY_DEADLINE_MS);
      this.#waiting.set(id, { resolve, reject, timer });
      this.#socket.send(JSON.stringify({ event, id, data }));
    });
  }

  #receive({ event, id, data }) {
    const request = this.#waiting.get(id);
    if (!request) {
      if (event !== "error") this.#tell("push", { event, data });
      return;
    }
    this.#waiting.delete(id);
    clearTimeout(request.timer);
    if (event === "error") request.reject(new Refusal(data));
    else request.resolve(data);
  }

  #lost() {
    for (const { reject, timer } of this.#waiting.values()) {
      clearTimeout(timer);
      reject(new Error("The connection to the chat server was lost."));
    }
    this.#waiting.clear();
    this.#authenticated = false;
    if (this.#closed) return;
    this.#later();
    this.#tell("offline");
  }

  #later() {
    this.#timer = setTimeout(() => this.#open(), this.#backoff.next());
  }

  #tell(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }
}
