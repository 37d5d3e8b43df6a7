// Manages this browser's keys in private conversations: its MLS key, the statement that vouches for that key,
// and the key packages that other devices use to add this one. See docs/private.md.

/**
 * @import { Body } from "../../types/wire.js"
 * @import { Keys } from "./mls.js"
 * @import { Api } from "./other_devices.js"
 * @import { Store } from "./unsent_messages.js"
 *
 * @typedef {Keys & {statement: string, id: string}} Identity
 */

import { makeKeys, makePackage, toBase64 } from "./mls.js";

const STOCK = 30; // The number of key packages to keep on the server.

/** Wait for a new task, to keep the page responsive. */
const nextTask = () => new Promise((resolve) => setTimeout(resolve));

export class OwnKeys {
  #api;
  #store;
  #sign;
  #memberId;
  #audience;
  #now;

  /**
   * @param {{api: Api, store: Store, sign: (claims: object) => Promise<string>, memberId: string, audience:
   *   string, now: () => number}} parts
   */
  constructor({ api, store, sign, memberId, audience, now }) {
    this.#api = api;
    this.#store = store;
    this.#sign = sign;
    this.#memberId = memberId;
    this.#audience = audience;
    this.#now = now;
  }

  /**
   * Return {signKey, publicKey, statement, id}. Create the keys on first use. `id` is empty until the server
   * has the statement.
   * @returns {Promise<Identity>}
   */
  async identity() {
    const known = await this.#store.get("identity");
    if (known) return known;
    // Creating the first key takes 40 ms in addition to the time for loading the library.
    await nextTask();
    const keys = await makeKeys();
    const key = toBase64(keys.publicKey).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
    const claims = { use: "mls", aud: this.#audience, sub: this.#memberId, mls_key: key };
    const identity = { ...keys, statement: await this.#sign(claims), id: "" };
    await this.#store.put([["identity", identity]]);
    return identity;
  }

  /** Register this device and publish key packages for other devices. */
  async prepare() {
    const identity = await this.identity();
    const { device_id: id } = await this.#api("PUT", "/api/private/device", {
      statement: identity.statement,
    });
    const { left, low_below: low } = await this.#api("GET", "/api/private/device");
    // The first batch includes the last-resort package.
    if (left < low || identity.id !== id) await this.#publish(STOCK - left, identity.id !== id);
    if (identity.id !== id) await this.#store.put([["identity", { ...identity, id }]]);
  }

  /** Create a key package for a group that we create. It is never published. */
  async package() {
    return makePackage(await this.identity(), this.#now());
  }

  /** @param {number} count @param {boolean} withLast */
  async #publish(count, withLast) {
    const identity = await this.identity();
    const made = [];
    for (let at = 0; at < count + (withLast ? 1 : 0); at += 1) {
      made.push(await makePackage(identity, this.#now()));
      await nextTask(); // Creating all key packages in one task would freeze the page.
    }
    const last = withLast ? made.at(-1) : null;
    // Store the keys before publishing the packages, because a Welcome for a package can be decrypted only
    // with its keys.
    await this.#store.put(
      made.map(({ ref, message, keys }) => [`package/${ref}`, { message, keys, last: ref === last?.ref }]),
    );
    /** @type {Body<"POST", "/api/private/key-packages">} */
    const body = {
      key_packages: made.filter((keyPackage) => keyPackage !== last).map(({ message }) => toBase64(message)),
    };
    if (last) body.last_resort = toBase64(last.message);
    await this.#api("POST", "/api/private/key-packages", body);
  }
}
