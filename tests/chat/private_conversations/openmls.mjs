// Runs a member whose device is the program in tests/clients/openmls. This module passes data between the
// program and the server, and signs the device's statement. All state is in memory.

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

import { createFrank } from "../../../src/svc/web/state/private/franking.js";
import { readStatement, toBase64 } from "../../../src/svc/web/state/private/mls.js";
import { base64url, signed } from "../../../src/svc/web/transport/device_key.js";
import { AUDIENCE, Client } from "./clients.mjs";

const ATTEMPTS = 20;
const hex = (data) => Buffer.from(data).toString("hex");
const base64 = (text) => Buffer.from(text, "hex").toString("base64");
const fromBase64 = (text) => Buffer.from(text, "base64").toString("hex");
const ONE = (id, suffix = "") => `/api/private/conversations/${id}${suffix}`;

export class OpenMls {
  #answers = [];
  #person;
  #program;
  #statement;
  /** The decrypted messages: {text, memberId}. */
  history = [];
  seq = 0;
  /** Our commit in hexadecimal, until the log confirms it. */
  #own = new Map();

  static async join(nickname, packages = 3) {
    const client = new OpenMls();
    client.#person = await Client.join(nickname, undefined, false);
    client.#program = spawn(process.env.SVC_OPENMLS, { stdio: ["pipe", "pipe", "inherit"] });
    createInterface({ input: client.#program.stdout }).on("line", (line) => client.#answers.shift()(line));
    const key = await client.#do("key");
    const claims = {
      use: "mls",
      aud: AUDIENCE,
      sub: client.memberId,
      mls_key: base64url(Buffer.from(key, "hex")),
    };
    client.#statement = await signed(client.#person.key, claims, { jwk: client.#person.jwk });
    await client.#do("identity", hex(client.#statement));
    const { device_id: id } = await client.ask("PUT", "/api/private/device", {
      statement: client.#statement,
    });
    client.id = id;
    const made = [];
    for (let at = 0; at < packages; at += 1) made.push(base64(await client.#do("package")));
    await client.ask("POST", "/api/private/key-packages", { key_packages: made });
    return client;
  }

  get memberId() {
    return this.#person.memberId;
  }

  ask(method, path, body) {
    return this.#person.ask(method, path, body);
  }

  end() {
    this.#program.stdin.end();
  }

  /** Send a line to the program. Resolve with its response, or reject with its error. */
  async #do(...words) {
    const line = await new Promise((answer) => {
      this.#answers.push(answer);
      this.#program.stdin.write(`${words.join(" ")}\n`);
    });
    if (line.startsWith("error ")) throw new Error(`${words[0]}: ${line}`);
    return line;
  }

  async groupState() {
    const [epoch, agreement, callKey, devices] = (await this.#do("standing")).split(" ");
    return { epoch: Number(epoch), agreement, callKey, devices: Number(devices) };
  }

  /** Create the group of a conversation without a group, and add all missing devices. */
  async begin(id) {
    await this.#do("begin", hex(id));
    await this.#commit(id, 0, []);
    await this.sync(id);
  }

  /** Join with each Welcome. Then read the messages. */
  async sync(id) {
    const { welcomes } = await this.ask("GET", "/api/private/welcomes");
    for (const { id: welcomeId, seq, welcome } of welcomes) {
      await this.#do("join", fromBase64(welcome));
      this.seq = seq;
      await this.ask("DELETE", `/api/private/welcomes/${welcomeId}`);
    }
    const { entries } = await this.ask("GET", ONE(id, `/log?after=${this.seq}`));
    await this.readAll(entries);
  }

  /** Read the messages in the order of the log. Reject if a message cannot be read. */
  async readAll(entries) {
    for (const entry of entries) await this.#take(entry);
  }

  async #take({ seq, kind, body }) {
    const message = fromBase64(body);
    const own = this.#own.get(message);
    if (own === undefined) {
      const [what, ...rest] = (await this.#do("open", message)).split(" ");
      if (what !== (kind === "commit" ? "commit" : "said"))
        throw new Error(`the server says ${kind}, and it is ${what}`);
      if (what === "said") {
        const [statement, said] = rest.map((part) => Buffer.from(part, "hex").toString());
        const { memberId } = await readStatement(statement, AUDIENCE);
        this.history.push({ text: JSON.parse(said).text, memberId });
      }
    } else if (kind === "commit") await this.#do("merge");
    else this.history.push({ text: own, memberId: this.memberId });
    this.seq = seq;
  }

  /** Commit the addition of missing devices and the removal of former ones. Return whether the commit won. */
  async #commit(id, after, statements) {
    const { devices, lacking } = await this.ask("GET", ONE(id));
    const left = devices.filter((device) => device.gone);
    const stated = await Promise.all(
      statements.map(async (statement) => ({ statement, ...(await readStatement(statement, AUDIENCE)) })),
    );
    const gone = stated
      .filter(({ thumbprint }) => left.some((device) => device.thumbprint === thumbprint))
      .map(({ statement }) => statement);
    const wanted = lacking.map((device) => device.id).filter((id) => id !== this.id);
    const { key_packages: packages } = await this.ask("POST", ONE(id, "/key-packages"), { devices: wanted });
    const changes = [
      ...packages.map((keyPackage) => `+${fromBase64(keyPackage.key_package)}`),
      ...gone.map((leaf) => `-${hex(leaf)}`),
    ];
    const [commit, welcome] = (await this.#do("commit", ...changes)).split(" ");
    this.#own.set(commit, "");
    const removed = left.map((device) => device.id);
    try {
      await this.ask("POST", ONE(id, "/commits"), {
        commit: base64(commit),
        removed,
        after,
        ...(welcome !== "-" && { welcome: base64(welcome) }),
      });
      return true;
    } catch (error) {
      if (error.code !== "epoch_passed") throw error;
      return false;
    }
  }

  /** Renew our keys, and add and remove devices. Resolve with whether this commit won its epoch. */
  async renew(id, ...gone) {
    const won = await this.#commit(id, this.seq, gone);
    await this.sync(id);
    return won;
  }

  async send(id, text) {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      await this.sync(id);
      const said = { v: 1, type: "message", key: crypto.randomUUID(), text };
      const { frank, commitment, shown } = await createFrank(said);
      const message = await this.#do("seal", hex(JSON.stringify({ ...said, frank })), hex(shown));
      this.#own.set(message, text);
      try {
        await this.ask("POST", ONE(id, "/messages"), {
          message: base64(message),
          commitment: toBase64(commitment),
          after: this.seq,
        });
        await this.sync(id);
        return;
      } catch (error) {
        if (error.code !== "epoch_passed") throw error;
      }
    }
    throw new Error("it does not get through");
  }
}
