// What this browser lends the page, and may refuse: to keep things by name, and to take turns among its tabs. What is
// kept is read as what was expected, whatever is found; where nothing is kept, because the browser is full or was told
// so, it holds until the page goes. None of this throws.

/** @typedef {"localStorage" | "sessionStorage"} Storage */

/** In sessionStorage, while the person is at the operator's provider: {state, verifier, issuer, redirect, hash, carried}. */
export const SENT_AWAY = "svc.sign-in";

/** What the browser did not take: texts by storage and name. @type {Map<string, string | null>} */
const held = new Map();

/** The text that is kept, or null. @param {string} name @param {Storage} [storage] of one tab with "sessionStorage" */
export function kept(name, storage = "localStorage") {
  const place = `${storage} ${name}`;
  if (held.has(place)) return held.get(place) ?? null;
  try {
    return globalThis[storage]?.getItem(name) ?? null;
  } catch {
    return null;
  }
}

/**
 * What is kept, part by part like `usual`: see `like`.
 * @template T
 * @param {T} usual @param {string} name @param {Storage} [storage] @returns {T}
 */
export function keptLike(usual, name, storage) {
  try {
    return like(usual, JSON.parse(kept(name, storage) ?? "null"));
  } catch {
    return usual;
  }
}

/**
 * Keep a text as it is, anything else as JSON, and null not at all.
 * @param {string} name @param {unknown} value @param {Storage} [storage]
 */
export function keep(name, value, storage = "localStorage") {
  const place = `${storage} ${name}`;
  const text = value === null || typeof value === "string" ? value : JSON.stringify(value);
  held.delete(place);
  try {
    if (text === null) globalThis[storage].removeItem(name);
    else globalThis[storage].setItem(name, text);
  } catch {
    held.set(place, text);
  }
}

/**
 * `value` where it is of the same kind as `usual`, and `usual` where it is not. Of an object every part is looked at,
 * and parts that are not usual are dropped; an empty one stands for any. Lists are of texts.
 * @template T
 * @param {T} usual @param {any} value what was found, of any kind @returns {T}
 */
export function like(usual, value) {
  if (usual === null) return value ?? null;
  if (Array.isArray(usual)) return Array.isArray(value) ? /** @type {any} */ (value.filter((each) => typeof each === "string")) : usual;
  if (typeof usual !== "object") return typeof value === typeof usual ? value : usual;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return usual;
  const names = Object.keys(usual);
  const parts = /** @type {Record<string, unknown>} */ (usual);
  return names.length ? /** @type {any} */ (Object.fromEntries(names.map((name) => [name, like(parts[name], value[name])]))) : value;
}

/**
 * An object of which every value is like `usual`.
 * @template T
 * @param {T} usual @param {object} object @returns {Record<string, T>}
 */
export const eachLike = (usual, object) => Object.fromEntries(Object.entries(object).map(([name, value]) => [name, like(usual, value)]));

/**
 * Act while no other tab acts under this name; `options` and what `act` is given are those of the Web Locks.
 * @template T
 * @param {string} name @param {(lock: Pick<Lock, "name"> | null) => Promise<T>} act @param {LockOptions} [options] @returns {Promise<T>}
 */
export async function inTurn(name, act, options = {}) {
  let begun = false;
  const begin = (/** @type {Lock | null} */ lock) => {
    begun = true;
    return act(lock);
  };
  try {
    return await navigator.locks.request(name, options, begin);
  } catch (error) {
    if (begun) throw error;
    return act({ name }); // A browser that keeps nothing lends no locks either: this tab is alone.
  }
}
