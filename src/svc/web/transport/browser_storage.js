// Wraps browser features that may be unavailable: stored values, locks between tabs, and IndexedDB. A value
// read from storage always has the expected type. If storage is full or forbidden, values last until the page
// is closed. Only the IndexedDB functions can fail.

/** @typedef {"localStorage" | "sessionStorage"} Storage */

/**
 * In sessionStorage, while the member is at the account provider: {state, verifier, issuer, redirect, hash,
 * carried}.
 */
export const SENT_AWAY = "svc.sign-in";

/** Values that the browser failed to store, by storage and name. @type {Map<string, string | null>} */
const held = new Map();

/**
 * Return the stored string, or null.
 * @param {string} name
 * @param {Storage} [storage] "sessionStorage" limits the value to this tab.
 */
export function storedText(name, storage = "localStorage") {
  const key = `${storage} ${name}`;
  if (held.has(key)) return held.get(key) ?? null;
  try {
    return globalThis[storage]?.getItem(name) ?? null;
  } catch {
    return null;
  }
}

/**
 * Return the stored value. Any property with an invalid type is replaced with the same property of
 * `fallback`.
 * @template T
 * @param {T} fallback @param {string} name @param {Storage} [storage] @returns {T}
 */
export function storedValue(fallback, name, storage) {
  try {
    return like(fallback, JSON.parse(storedText(name, storage) ?? "null"));
  } catch {
    return fallback;
  }
}

/**
 * Store a string unchanged, and anything else as JSON; null deletes the value.
 * @param {string} name @param {unknown} value @param {Storage} [storage]
 */
export function storeValue(name, value, storage = "localStorage") {
  const key = `${storage} ${name}`;
  const text = value === null || typeof value === "string" ? value : JSON.stringify(value);
  held.delete(key);
  try {
    if (text === null) globalThis[storage].removeItem(name);
    else globalThis[storage].setItem(name, text);
  } catch {
    held.set(key, text);
  }
}

/**
 * Return `value` if it has the same type as `fallback`, otherwise return `fallback`. Objects are checked
 * property by property, and unknown properties are dropped, but an empty object accepts any object. Lists
 * must contain strings.
 * @template T
 * @param {T} fallback @param {any} value The stored value, of any type. @returns {T}
 */
export function like(fallback, value) {
  if (fallback === null) return value ?? null;
  if (Array.isArray(fallback))
    return Array.isArray(value)
      ? /** @type {any} */ (value.filter((item) => typeof item === "string"))
      : fallback;
  if (typeof fallback !== "object") return typeof value === typeof fallback ? value : fallback;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return fallback;
  const names = Object.keys(fallback);
  const parts = /** @type {Record<string, unknown>} */ (fallback);
  return names.length
    ? /** @type {any} */ (Object.fromEntries(names.map((name) => [name, like(parts[name], value[name])])))
    : value;
}

/**
 * Return a copy of an object with every value checked against `fallback`.
 * @template T
 * @param {T} fallback @param {object} object @returns {Record<string, T>}
 */
export const eachLike = (fallback, object) =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [name, like(fallback, value)]));

/**
 * Run `act` while no other tab holds the lock with this name; `options` and the argument of `act` are those
 * of the Web Locks API.
 * @template T
 * @param {string} name @param {(lock: Pick<Lock, "name"> | null) => Promise<T>} act @param {LockOptions}
 *   [options] @returns {Promise<T>}
 */
export async function withLock(name, act, options = {}) {
  let begun = false;
  const begin = (/** @type {Lock | null} */ lock) => {
    begun = true;
    return act(lock);
  };
  try {
    return await navigator.locks.request(name, options, begin);
  } catch (error) {
    if (begun) throw error;
    // A browser that denies storage also denies locks, but then its tabs share nothing that needs a lock.
    return act({ name });
  }
}

/**
 * Return `inStore(mode, act)`, which resolves with the result of `act`'s request once the transaction is
 * complete. The store is created if it does not exist.
 * @param {string} database @param {string} name
 */
export function databaseStore(database, name) {
  /**
   * @template T
   * @param {IDBTransactionMode} mode @param {(store: IDBObjectStore) => IDBRequest<T>} act @returns
   *   {Promise<T>}
   */
  return async (mode, act) => {
    const opened = await open(database, name);
    try {
      const transaction = opened.transaction(name, mode);
      const request = act(transaction.objectStore(name));
      await new Promise((resolve, reject) => {
        transaction.addEventListener("complete", resolve);
        transaction.addEventListener("abort", () => reject(transaction.error));
      });
      return request.result;
    } finally {
      opened.close();
    }
  };
}

/** @param {string} database @param {string} name @returns {Promise<IDBDatabase>} */
function open(database, name) {
  const request = indexedDB.open(database, 1);
  request.addEventListener("upgradeneeded", () => request.result.createObjectStore(name));
  return new Promise((resolve, reject) => {
    request.addEventListener("success", () => resolve(request.result));
    request.addEventListener("error", () => reject(request.error));
  });
}
