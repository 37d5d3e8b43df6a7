// Keeps this browser in the MLS group for a call in an encrypted voice channel for the duration of the call.
// Everything except the device's own keys is kept in memory and dropped after the call. See docs/private.md.

/**
 * @import { Changes } from "../../transport/private_store.js"
 * @import { Store } from "./unsent_messages.js"
 *
 * @typedef {NonNullable<Awaited<ReturnType<typeof import("./call_keys.js").keysOf>>>} Keys
 */

import { Unkept } from "../../transport/private_store.js";
import { keyNotifier } from "./call_keys.js";
import { deviceOf, channelCalls, registeredIdentity } from "./own_identity.js";
import { reportProblem } from "./other_devices.js";

// The first device in the group adds and removes other devices. If it fails to do so within this time, the
// next device takes over, and so on.
const TURN_MS = 300;
const RETRY_MS = 2000;

/** The store for a call. The device's own keys are persistent, and everything else is in memory. */
class CallStore {
  #store;
  #memory = new Unkept();

  /** @param {Store} store */
  constructor(store) {
    this.#store = store;
  }

  #isOfDevice = (/** @type {string} */ name) => !name.includes("/") || name.startsWith("package/");

  /** @param {string} name */
  get(name) {
    return (this.#isOfDevice(name) ? this.#store : this.#memory).get(name);
  }

  /** @param {Changes} changes */
  async put(changes) {
    await this.#store.put(changes.filter(([name]) => this.#isOfDevice(name)));
    await this.#memory.put(changes.filter(([name]) => !this.#isOfDevice(name)));
  }

  /** @param {string} prefix */
  under(prefix) {
    return this.#memory.under(prefix);
  }
}

/**
 * Stay in the group for this channel's call until the returned function is called. `onKeys` is called with
 * the keys of each epoch.
 * @param {string} id
 * @param {(keys: Keys) => void} onKeys
 */
export async function followCall(id, onKeys) {
  const identity = await registeredIdentity();
  const store = new CallStore(identity.store);
  const isActive = () => channelCalls.get(id) === group;
  const notifyKeys = keyNotifier(
    async () => ({ store, device }),
    id,
    (keys) => {
      if (isActive()) onKeys(keys);
    },
  );
  const device = deviceOf(identity, store, {
    channelId: id,
    inCall: new Map([[id, notifyKeys]]),
    withLock: (act) => act(),
  });
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const synchronise = async (/** @type {boolean} */ acts) => {
    clearTimeout(timer);
    if (!isActive()) return;
    try {
      const turn = await device.syncCall(acts);
      if (turn !== null) later(turn * TURN_MS);
    } catch (/** @type {any} */ error) {
      // The server has not yet registered that we are in the call, or that we have left. It pushes an event
      // when it does.
      if (error.code === "unknown_conversation") return;
      if (error.status === undefined && error.code !== "unreachable") reportProblem(error);
      later(RETRY_MS);
    }
  };
  const later = (/** @type {number} */ ms) => {
    clearTimeout(timer);
    if (isActive()) timer = setTimeout(synchroniseNext, ms, true);
  };
  // Run one synchronisation at a time.
  let queue = Promise.resolve();
  const synchroniseNext = (acts = false) => {
    queue = queue.then(() => synchronise(acts));
  };
  const group = { store, device, synchronise: () => synchroniseNext() };
  channelCalls.set(id, group);
  group.synchronise();
  return () => {
    clearTimeout(timer);
    if (isActive()) channelCalls.delete(id);
  };
}
