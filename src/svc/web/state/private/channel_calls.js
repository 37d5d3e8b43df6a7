// The group for a call in an encrypted voice channel. This browser belongs to the group only during the call,
// and stores nothing about it: everything except the device's own keys is in memory and disappears with the
// call. See docs/private.md

/**
 * @import { Changes } from "../../transport/private_store.js"
 * @import { Kept } from "./unsent_messages.js"
 *
 * @typedef {NonNullable<Awaited<ReturnType<typeof import("./call_keys.js").keysOf>>>} Keys
 */

import { Unkept } from "../../transport/private_store.js";
import { keyNotifier } from "./call_keys.js";
import { deviceOf, inCalls, takePart } from "./own_identity.js";
import { reportProblem } from "./other_devices.js";

// The first device in the group adds and removes other devices. If it fails, the next one does so after this
// time.
const TURN_MS = 300;
const AGAIN_MS = 2000;

/** The store for a call: the device's own keys are persistent; everything else is in memory. */
class OfCall {
  #kept;
  #memory = new Unkept();

  /** @param {Kept} kept */
  constructor(kept) {
    this.#kept = kept;
  }

  #isOfDevice = (/** @type {string} */ name) => !name.includes("/") || name.startsWith("package/");

  /** @param {string} name */
  get(name) {
    return (this.#isOfDevice(name) ? this.#kept : this.#memory).get(name);
  }

  /** @param {Changes} changes */
  async put(changes) {
    await this.#kept.put(changes.filter(([name]) => this.#isOfDevice(name)));
    await this.#memory.put(changes.filter(([name]) => !this.#isOfDevice(name)));
  }

  /** @param {string} prefix */
  under(prefix) {
    return this.#memory.under(prefix);
  }
}

/**
 * Stay in the group for this channel's call until the returned function is called; `onKeys` receives the keys
 * of each epoch.
 * @param {string} id
 * @param {(keys: Keys) => void} onKeys
 */
export async function followCall(id, onKeys) {
  const mine = await takePart();
  const kept = new OfCall(mine.kept);
  const isHere = () => inCalls.get(id) === group;
  const notifyKeys = keyNotifier(
    async () => ({ kept, device }),
    id,
    (keys) => {
      if (isHere()) onKeys(keys);
    },
  );
  const device = deviceOf(mine, kept, {
    channelId: id,
    inCall: new Map([[id, notifyKeys]]),
    inTurn: (act) => act(),
  });
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const look = async (/** @type {boolean} */ acts) => {
    clearTimeout(timer);
    if (!isHere()) return;
    try {
      const turn = await device.syncCall(acts);
      if (turn !== null) later(turn * TURN_MS);
    } catch (/** @type {any} */ error) {
      // The server does not know yet that we are in the call, or knows that we have left. It pushes both
      // changes.
      if (error.code === "unknown_conversation") return;
      if (error.status === undefined && error.code !== "unreachable") reportProblem(error);
      later(AGAIN_MS);
    }
  };
  const later = (/** @type {number} */ ms) => {
    clearTimeout(timer);
    if (isHere()) timer = setTimeout(lookNext, ms, true);
  };
  // Polls run one at a time.
  let looking = Promise.resolve();
  const lookNext = (acts = false) => {
    looking = looking.then(() => look(acts));
  };
  const group = { kept, device, look: () => lookNext() };
  inCalls.set(id, group);
  group.look();
  return () => {
    clearTimeout(timer);
    if (isHere()) inCalls.delete(id);
  };
}
