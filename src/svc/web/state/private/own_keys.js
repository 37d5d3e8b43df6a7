// This browser's keys in private conversations: its MLS key, the statement that vouches for it, and the key
// packages that other devices use to add this one. See docs/private.md

/**
 * @import { Body } from "../../types/wire.js"
 * @import { Keys } from "./mls.js"
 * @import { Api } from "./other_devices.js"
 * @import { Kept } from "./unsent_messages.js"
 *
 * @typedef {Keys & {statement: string, id: string}} Identity
 */

import { makeKeys, makePackage, toBase64 } from "./mls.js";

const STOCK = 30; // The number of key packages to keep on the server.

/** Continue in a new task, so that the page stays responsive. */
const aTask = () => new Promise((goOn) => setTimeout(goOn));

export class OwnKeys {
  #api;
  #kept;
  #sign;
  #memberId;
  #audience;
  #now;

  /**
   * @param {{api: Api, kept: Kept, sign: (claims: object) => Promise<string>, memberId: string, audience:
   *   string, now: () => number}} parts
   */
  constructor({ api, kept, sign, memberId, audience, now }) {
    this.#api = api;
    this.#kept = kept;
    this.#sign = sign;
    this.#memberId = memberId;
    this.#audience = audience;
    this.#now = now;
  }

  /**
   * Return {signKey, publicKey, statement, id}, created once; `id` is empty until the server knows the
   * statement.
   * @returns {Promise<Identity>}
   */
  async identity() {
    const known = await this.#kept.get("identity");
    if (known) return known;
    // Creating the first key takes 40 ms, in addition to loading the library.
    await aTask();
    const keys = await makeKeys();
    const key = toBase64(keys.publicKey).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
    const claims = { use: "mls", aud: this.#audience, sub: this.#memberId, mls_key: key };
    const own = { ...keys, statement: await this.#sign(claims), id: "" };
    await this.#kept.put([["identity", own]]);
    return own;
  }

  /** Register this device and publish key packages for other devices. */
  async prepare() {
    const own = await this.identity();
    const { device_id: id } = await this.#api("PUT", "/api/private/device", { statement: own.statement });
    const { left, low_below: low } = await this.#api("GET", "/api/private/device");
    // The first batch includes the last-resort package.
    if (left < low || own.id !== id) await this.#publish(STOCK - left, own.id !== id);
    if (own.id !== id) await this.#kept.put([["identity", { ...own, id }]]);
  }

  /** Create a key package for a group that we create. It is never published. */
  async package() {
    return makePackage(await this.identity(), this.#now());
  }

  /** @param {number} count @param {boolean} withLast */
  async #publish(count, withLast) {
    const own = await this.identity();
    const made = [];
    for (let at = 0; at < count + (withLast ? 1 : 0); at += 1) {
      made.push(await makePackage(own, this.#now()));
      await aTask(); // Creating all key packages in one task would freeze the page.
    }
    const last = withLast ? made.at(-1) : null;
    // Store the keys first: a Welcome for a package can be opened only with them.
    await this.#kept.put(
      made.map(({ ref, message, keys }) => [`package/${ref}`, { message, keys, last: ref === last?.ref }]),
    );
    /** @type {Body<"POST", "/api/private/key-packages">} */
    const body = {
      key_packages: made.filter((each) => each !== last).map(({ message }) => toBase64(message)),
    };
    if (last) body.last_resort = toBase64(last.message);
    await this.#api("POST", "/api/private/key-packages", body);
  }
}
