// Sends messages one at a time, and shows them before the server has responded. After a lost connection or a
// reload, sends a message again with the same nonce. Rejected messages stay in the list with the reason. Also
// tracks the wait between two messages in slow mode.

/**
 * @import { Message } from "../types/api.js"
 * @import { Data } from "../types/wire.js"
 * @import { Signal } from "../vendor/signals.js"
 */

import { pause } from "../transport/backoff.js";
import { eachLike, storeValue, storedValue } from "../transport/browser_storage.js";
import { effect, signal } from "../vendor/signals.js";
import { explain } from "../words/words.js";
import { conversationOf } from "./conversation.js";
import { ask, connection, listen, member } from "./server.js";
import { channelAndThreadOf, channelsById, hasPermission } from "./channels.js";

/**
 * @typedef {{nonce: string, spot: string, text: string, reply: Pick<Message, "id"> | null, ping: boolean,
 *   attachments: string[], atMs: number, state: "sending" | "refused", problem: string}} Item
 */

const AGAIN_MS = 2000;
const FINISHED_MS = 5000; // How long to wait for the final text before sending the current text.
// In sessionStorage, by nonce, so that reloading this tab loses no messages.
const STORED_OUTBOX = "svc.outbox";
const SESSION = "sessionStorage";
/** @type {Item} */
const ITEM = {
  nonce: "",
  spot: "",
  text: "",
  reply: null,
  ping: true,
  attachments: [],
  atMs: 0,
  state: "sending",
  problem: "",
};

// The wait in slow mode starts when the server accepts a message, or comes from the server's rejection. It is
// measured with this device's clock and survives a reload of this tab.
const STORED_WAITS = "svc.slow"; // In sessionStorage: when each wait in slow mode ends.

/** When the wait in each channel ends, in ms since 1970. @type {Signal<Record<string, number>>} */
const until = signal(storedValue({}, STORED_WAITS, SESSION));

/**
 * Start the wait after an accepted message, or after a rejection that specifies this wait.
 * @param {string} channelId
 * @param {number} [waitMs]
 */
export function begins(channelId, waitMs = slowness(channelId) * 1000) {
  if (!waitMs) return;
  until.value = { ...until.value, [channelId]: Date.now() + waitMs };
  storeValue(STORED_WAITS, until.value, SESSION);
}

/** Return the remaining wait in seconds; 0 if there is none. @param {string} channelId */
export function secondsLeft(channelId) {
  const left = Math.ceil((Number(until.value[channelId] ?? 0) - Date.now()) / 1000);
  return Math.max(0, Math.min(left, slowness(channelId)));
}

/**
 * Return the slow mode interval that applies to us, in seconds; 0 for moderators, who are exempt.
 * @param {string} channelId
 */
const slowness = (channelId) =>
  hasPermission("manage_messages", channelId) ? 0 : (channelsById.value.get(channelId)?.slow_mode_s ?? 0);

/**
 * The unsent messages: [{nonce, spot, text, reply, ping, attachments, atMs, state, problem}]; `state` is
 * "sending" or "refused".
 */
export const outbox = signal(
  Object.values(eachLike(ITEM, storedValue({}, STORED_OUTBOX, SESSION))).filter(
    ({ nonce, spot: key }) => nonce && key,
  ),
);

const busy = new Set(); // The keys of the channels and threads in which a message is being sent.
/** A promise for each nonce that resolves when its text is final. @type {Map<string, Promise<void>>} */
const finishing = new Map();

/**
 * Send a message as soon as possible. `attachments` are ids of finished uploads, and `reply` is a message.
 * `later` resolves with the final text, which is then sent instead.
 * @param {string} key @param {Pick<Item, "text"> & Partial<Item> & {later?: Promise<string>}} what
 */
export function send(key, { text, later, reply = null, ping = true, attachments = [] }, atMs = Date.now()) {
  /** @type {Item} */
  const item = {
    nonce: crypto.randomUUID(),
    spot: key,
    text,
    reply,
    ping,
    attachments,
    atMs,
    state: "sending",
    problem: "",
  };
  outbox.value = [...outbox.value, item];
  if (later) finishing.set(item.nonce, finish(item.nonce, later));
  go(key);
}

/** @param {string} nonce @param {Promise<string>} later */
async function finish(nonce, later) {
  const text = await Promise.race([later, pause(FINISHED_MS)]).catch(() => undefined);
  if (text !== undefined) change(nonce, { text });
  finishing.delete(nonce);
}

/** Retry a rejected message. @param {string} nonce */
export function sendAgain(nonce) {
  const item = outbox.value.find((entry) => entry.nonce === nonce);
  if (!item) return;
  change(nonce, { state: "sending", problem: "" });
  go(item.spot);
}

/** Delete a rejected message. Return it for editing. @param {string} nonce */
export function discard(nonce) {
  const item = outbox.value.find((entry) => entry.nonce === nonce);
  outbox.value = outbox.value.filter((entry) => entry.nonce !== nonce);
  return item;
}

/** @param {string} key */
async function go(key) {
  if (busy.has(key)) return;
  busy.add(key);
  try {
    let item = next(key);
    while (item && connection.value === "online") {
      const text = finishing.get(item.nonce);
      if (text) await text;
      else if (!(await sent(item))) {
        // If the connection is still up, the server was slow, so retry. After a lost connection, reconnecting
        // triggers the next attempt.
        if (connection.value === "online") setTimeout(() => go(key), AGAIN_MS);
        return;
      }
      item = next(key);
    }
  } finally {
    busy.delete(key);
  }
}

/** @param {string} key */
const next = (key) => outbox.value.find((entry) => entry.spot === key && entry.state === "sending");

/**
 * Send a message. Return false if the server did not respond, so the other messages must wait.
 * @param {Item} item
 */
async function sent({ nonce, spot: key, text, reply, ping, attachments }) {
  const { channelId, thread } = channelAndThreadOf(key);
  /** @type {Data<"message_send">} */
  const data = { channel_id: channelId, text, nonce };
  if (thread) data.thread = thread;
  if (reply) Object.assign(data, { reply_to: reply.id, ping });
  if (attachments.length) data.attachments = attachments;
  try {
    const message = await ask("message_send", data);
    conversationOf(key).take(message);
    discard(nonce);
    begins(channelId);
  } catch (/** @type {any} */ error) {
    if (error.code === "unreachable" || error.code === "server_stopping") return false;
    if (error.code === "slow_mode") begins(channelId, error.details?.retry_after_ms);
    change(nonce, { state: "refused", problem: explain(error) });
  }
  return true;
}

/** @param {string} nonce @param {Partial<Item>} changes */
function change(nonce, changes) {
  outbox.value = outbox.value.map((entry) => (entry.nonce === nonce ? { ...entry, ...changes } : entry));
}

effect(() => {
  const all = outbox.value;
  storeValue(
    STORED_OUTBOX,
    all.length ? Object.fromEntries(all.map((entry) => [entry.nonce, entry])) : null,
    SESSION,
  );
});

effect(() => {
  if (connection.value !== "online") return;
  for (const key of new Set(outbox.peek().map((entry) => entry.spot))) go(key);
});

listen({
  onPush(event, data) {
    // The push can arrive before the response.
    if (event === "message_posted" && data.nonce && data.author.id === member.value?.id) discard(data.nonce);
  },
  onSignOut() {
    outbox.value = [];
  },
});
