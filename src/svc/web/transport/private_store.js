// Stores the data of private conversations as named values in its own database. The values are encrypted with
// a key that cannot be extracted. The store belongs to one member at a time. Without storage, the data lasts
// until the page is closed. See docs/private.md.

import { databaseStore } from "./browser_storage.js";

const inStore = databaseStore("svc.private", "kept");
const KEY = "key"; // {memberId, key}: the member who owns all other entries, and the key that decrypts them.
const CIPHER = "AES-GCM";
const IV_BYTES = 12;

/**
 * @typedef {{iv: Uint8Array<ArrayBuffer>, data: ArrayBuffer}} Sealed
 * @typedef {{memberId: string, key: CryptoKey}} MemberKey
 * @typedef {[name: string, value: unknown][]} Changes An undefined value deletes the entry.
 */

/** Open this member's store, after erasing any other member's data. @param {string} memberId */
export async function openPrivateStore(memberId) {
  try {
    return new PrivateStore(await keyOf(memberId));
  } catch {
    return new Unkept();
  }
}

/** Erase the store, whichever member it belongs to. */
export async function erasePrivateStore() {
  await inStore("readwrite", (store) => store.clear()).catch(() => {});
}

class PrivateStore {
  #key;

  /** @param {CryptoKey} key */
  constructor(key) {
    this.#key = key;
  }

  /** @param {string} name @returns {Promise<any>} */
  async get(name) {
    return this.#opened(await inStore("readonly", (store) => store.get(name)));
  }

  /** Store all of the changes, or none if that fails. @param {Changes} changes */
  async put(changes) {
    const sealed = await Promise.all(
      changes.map(async ([name, value]) => ({
        name,
        value: value === undefined ? undefined : await this.#sealed(value),
      })),
    );
    await inStore("readwrite", (store) => {
      for (const { name, value } of sealed) value ? store.put(value, name) : store.delete(name);
      return store.count();
    });
  }

  /** Return the names that start with this prefix. @param {string} prefix @returns {Promise<string[]>} */
  async names(prefix) {
    return /** @type {string[]} */ (await inStore("readonly", (store) => store.getAllKeys(under(prefix))));
  }

  /**
   * Return the values whose names start with this prefix.
   * @param {string} prefix
   * @returns {Promise<any[]>}
   */
  async under(prefix) {
    const records = await inStore("readonly", (store) => store.getAll(under(prefix)));
    return Promise.all(records.map((record) => this.#opened(record)));
  }

  /** @param {unknown} value @returns {Promise<Sealed>} */
  async #sealed(value) {
    const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES));
    const text = JSON.stringify(value, (_, part) =>
      part instanceof Uint8Array ? { bytes$: written(part) } : part,
    );
    return {
      iv,
      data: await crypto.subtle.encrypt({ name: CIPHER, iv }, this.#key, new TextEncoder().encode(text)),
    };
  }

  /** @param {Sealed | undefined} sealed @returns {Promise<any>} */
  async #opened(sealed) {
    if (!sealed) return undefined;
    const text = new TextDecoder().decode(
      await crypto.subtle.decrypt({ name: CIPHER, iv: sealed.iv }, this.#key, sealed.data),
    );
    return JSON.parse(text, (_, part) => (typeof part?.bytes$ === "string" ? read(part.bytes$) : part));
  }
}

/** An in-memory store, for when browser storage is missing or forbidden. */
export class Unkept {
  /** @type {Map<string, unknown>} */ #all = new Map();

  /** @param {string} name @returns {Promise<any>} */
  async get(name) {
    return this.#all.get(name);
  }

  /** @param {Changes} changes */
  async put(changes) {
    for (const [name, value] of changes)
      value === undefined ? this.#all.delete(name) : this.#all.set(name, value);
  }

  /** @param {string} prefix */
  async names(prefix) {
    return [...this.#all.keys()].filter((name) => name.startsWith(prefix));
  }

  /** @param {string} prefix @returns {Promise<any[]>} */
  async under(prefix) {
    return (await this.names(prefix)).map((name) => this.#all.get(name));
  }
}

/** Return this member's key, created on first use. @param {string} memberId @returns {Promise<CryptoKey>} */
async function keyOf(memberId) {
  const made = await crypto.subtle.generateKey({ name: CIPHER, length: 256 }, false, ["encrypt", "decrypt"]);
  let { key } = /** @type {MemberKey} */ ({ memberId, key: made });
  await inStore("readwrite", (store) => {
    const before = store.get(KEY);
    before.addEventListener("success", () => {
      const stored = /** @type {MemberKey | undefined} */ (before.result);
      if (stored?.memberId === memberId) key = stored.key;
      else {
        store.clear();
        store.put({ memberId, key }, KEY);
      }
    });
    return before;
  });
  return key;
}

/** @param {string} prefix */
const under = (prefix) => IDBKeyRange.bound(prefix, `${prefix}\uffff`);

/** @param {Uint8Array} data */
const written = (data) => {
  let text = "";
  for (let at = 0; at < data.length; at += 0x8000)
    text += String.fromCharCode(...data.subarray(at, at + 0x8000));
  return btoa(text);
};

/** @param {string} text */
const read = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
