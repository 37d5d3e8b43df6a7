// Runs a malicious server between the clients and the real server. It forwards requests and changes some
// responses, as anyone who runs a server could.

import { once } from "node:events";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";

import { ADDRESS, requestAs } from "./clients.mjs";

export class Hostile {
  #server = createServer((request, response) => this.#serve(request, response));
  /** The clients by their tokens. */
  #lies = new Map();

  static async start() {
    const client = new Hostile();
    client.#server.listen(0, "127.0.0.1");
    await once(client.#server, "listening");
    client.address = `http://127.0.0.1:${client.#server.address().port}`;
    return client;
  }

  /**
   * Make this client talk to this server from now on. `lie` gets {method, path, body, pass} and resolves with
   * the response.
   */
  between(client, lie) {
    this.#lies.set(client.token, lie);
    client.address = this.address;
  }

  /** Connect this client to the real server again. */
  leave(client) {
    client.address = ADDRESS;
  }

  end() {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #serve(request, response) {
    const token = request.headers.authorization.replace("Bearer ", "");
    const { method, url: path } = request;
    const sent = await text(request);
    const body = sent ? JSON.parse(sent) : undefined;
    const [status, answer] = await this.#lies
      .get(token)({ method, path, body, pass: (other = path) => requestAs(token, method, other, body) })
      .then(
        (response) => [response === null ? 204 : 200, response],
        (error) => [error.status ?? 500, error.details ?? { error: "internal", message: String(error) }],
      );
    response.writeHead(status, { "Content-Type": "application/json" });
    response.end(answer === null ? undefined : JSON.stringify(answer));
  }
}

/** Forwards everything unchanged except log entries, which `change` replaces. */
export const log =
  (change) =>
  async ({ path, pass }) => {
    const response = await pass();
    return path.includes("/log") ? { ...response, entries: change(response.entries) } : response;
  };

/** Number the entries consecutively to hide the changes. */
export const renumbered = (entries, first) => entries.map((entry, at) => ({ ...entry, seq: first + at }));
