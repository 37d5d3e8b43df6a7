// Runs MLS clients in Node: the web client's own code with an in-memory store and a network that tests can
// change. The environment contains the server's URL. test_private_clients.py runs the tests that use this
// module.

import { PrivateDevice } from "../../../src/svc/web/state/private/mls_client.js";
import { base64url, signed } from "../../../src/svc/web/transport/device_key.js";

export const { SVC_ADDRESS: ADDRESS, SVC_INVITE: INVITE, SVC_AUDIENCE: AUDIENCE } = process.env;
const CURVE = { name: "ECDSA", namedCurve: "P-256" };

/** Stands in for a browser's store. It copies values with `structuredClone`, as IndexedDB does. */
export class MemoryStore {
  #all = new Map();
  get = async (name) => structuredClone(this.#all.get(name));
  put = async (changes) => {
    for (const [name, value] of structuredClone(changes))
      value === undefined ? this.#all.delete(name) : this.#all.set(name, value);
  };
  under = async (prefix) =>
    [...this.#all].filter(([name]) => name.startsWith(prefix)).map(([, value]) => structuredClone(value));
  forget = (prefix) => {
    for (const name of this.#all.keys()) if (name.startsWith(prefix)) this.#all.delete(name);
  };
}

// Keep the web client's error reports, because they help to explain a failed run.
globalThis.reportError = (error) => console.log("reported:", error);

function inTurn() {
  let last = Promise.resolve();
  return (act) => (last = last.then(act, act));
}

/** Resolve with the server's response. Reject as the web client's own requests do. */
export async function requestAs(token, method, path, body, address = ADDRESS) {
  const headers = { "Content-Type": "application/json", ...(token && { Authorization: `Bearer ${token}` }) };
  const response = await fetch(address + path, {
    method,
    headers,
    body: method === "GET" ? undefined : JSON.stringify(body ?? {}),
  });
  const answer = response.status === 204 ? null : await response.json();
  if (response.ok) return answer;
  throw Object.assign(new Error(`${method} ${path}: ${answer.error} ${answer.message}`), {
    code: answer.error,
    status: response.status,
    details: answer,
  });
}

/** The key that a browser signs in with. */
export async function freshKey() {
  const { privateKey, publicKey } = await crypto.subtle.generateKey(CURVE, false, ["sign", "verify"]);
  const { crv, kty, x, y } = await crypto.subtle.exportKey("jwk", publicKey);
  return { privateKey, jwk: { crv, kty, x, y } };
}

export class Client {
  store = new MemoryStore();
  /** The callbacks for changed call keys, by conversation. */
  inCall = new Map();
  /** Called for each request. The callback may drop the request or its response. */
  network = (request) => request();
  address = ADDRESS;

  static async join(nickname, changes = { invite_code: INVITE }, takesPart = true) {
    const client = new Client();
    client.key = await freshKey();
    client.jwk = client.key.jwk;
    const digest = await crypto.subtle.digest(
      "SHA-256",
      new TextEncoder().encode(JSON.stringify(client.jwk)),
    );
    const thumbprint = base64url(new Uint8Array(digest));
    client.thumbprint = thumbprint;
    const challenge = await requestAs(null, "POST", "/api/auth/challenge");
    const certificate = await signed(client.key, { jwk: client.jwk, sub: thumbprint });
    const assertion = await signed(client.key, {
      aud: challenge.audience,
      nonce: challenge.nonce,
      sub: thumbprint,
      origin: ADDRESS,
    });
    const answer = await requestAs(null, "POST", "/api/auth/join", {
      certificate,
      assertion,
      nickname,
      ...changes,
    });
    client.token = answer.access_token;
    client.memberId = answer.member.id;
    client.turn = inTurn();
    client.start();
    if (takesPart) await client.device.prepare();
    return client;
  }

  /** Sign in on another device as the same member. */
  async another() {
    const { code } = await this.ask("POST", "/api/me/devices/link");
    return Client.join(undefined, { link_code: code });
  }

  /** Restart the web client. Only stored data remains. */
  start() {
    this.device = new PrivateDevice({
      api: (method, path, body) => this.network(() => this.ask(method, path, body), path),
      store: this.store,
      sign: (claims) => signed(this.key, claims, { jwk: this.jwk }),
      memberId: this.memberId,
      audience: AUDIENCE,
      inCall: this.inCall,
      withLock: this.turn,
    });
  }

  ask(method, path, body) {
    return requestAs(this.token, method, path, body, this.address);
  }

  /** Store an encrypted file on the server. Resolve with the file's id. */
  async upload(id, data) {
    const headers = { Authorization: `Bearer ${this.token}`, "Content-Type": "application/octet-stream" };
    return (
      await (
        await fetch(`${ADDRESS}/api/private/conversations/${id}/files`, {
          method: "POST",
          headers,
          body: data,
        })
      ).json()
    ).file_id;
  }

  async fetchFile(id, fileId) {
    const response = await fetch(`${ADDRESS}/api/private/conversations/${id}/files/${fileId}`, {
      headers: { Authorization: `Bearer ${this.token}` },
    });
    if (!response.ok) throw Object.assign(new Error(fileId), { code: (await response.json()).error });
    return response.arrayBuffer();
  }

  /** Return the problems that this client has found in the server's log, each with a member's id. */
  async troubles(id) {
    const changes = await this.store.under(`changes/${id}/`);
    return changes
      .sort((a, b) => a.seq - b.seq)
      .flatMap(({ trouble, memberId }) => (trouble ? [[trouble, memberId]] : []));
  }

  async texts(id) {
    return (await this.device.history(id)).map(({ said }) => said?.text);
  }
}

/** Check that all clients are in the group, agree on its state, and have read every message. */
export async function settle(clients, id) {
  for (let round = 0; round < 20; round += 1) {
    for (const client of clients) await client.device.sync();
    const standings = await Promise.all(clients.map((client) => client.device.groupState(id)));
    if (
      standings.every(
        (standing) =>
          standing &&
          standing.agreement === standings[0].agreement &&
          standing.statements.length === clients.length,
      )
    ) {
      // By this point, pending messages have been sent and the others have read them.
      for (const client of clients) await client.device.sync();
      return;
    }
  }
  throw new Error("they do not agree");
}
