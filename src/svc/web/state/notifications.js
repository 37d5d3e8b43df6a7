// What we want to be told of: a level for all channels and one for each, and what is muted. The server keeps it,
// and rings our devices by it.

/** @import { Notifications } from "../types/api.js" */
/** @import { Choice } from "../types/wire.js" */
/** @import { Signal } from "../vendor/signals.js" */

import { signal } from "../vendor/signals.js";
import { ask, listen } from "./server.js";

/** @type {Choice} */
const UNSET = { level: null, muted: false, muted_until_ms: null };
const LONGEST_WAIT_MS = 24 * 3600_000; // Timers count to 24 days at most.

/** From the most to the least. */
export const LEVELS = /** @type {const} */ (["all", "mentions", "nothing"]);
/** What holds where nothing was chosen. */
export const USUAL = "mentions";

/** By the id of the channel, null for all channels: {level, muted, muted_until_ms}. @type {Signal<Map<string | null, Choice>>} */
export const choices = signal(new Map());
const now = signal(Date.now()); // Goes on when a mute ends.
let timer = 0;

/** What was chosen for the channel itself, or with null for all channels. @param {string | null} channelId */
export const choiceOf = (channelId) => current(choices.value.get(channelId) ?? UNSET, now.value);

/** The level that holds in a channel, whether it is muted or not. @param {string | null} channelId */
export const levelOf = (channelId) => choiceOf(channelId).level ?? choiceOf(null).level ?? USUAL;

/** Is the channel muted, by itself or with all others? @param {string | null} channelId */
export const isMuted = (channelId) => choiceOf(channelId).muted || choiceOf(null).muted;

/** Choose a level; null for the one of all channels. @param {string | null} channelId @param {Notifications["level"]} level */
export function chooseLevel(channelId, level) {
  return choose(channelId, { ...choiceOf(channelId), level });
}

/** Mute for so many seconds, or with 0 until it is taken back. @param {string | null} channelId @param {number} seconds */
export function mute(channelId, seconds) {
  return choose(channelId, { ...choiceOf(channelId), muted: true, muted_until_ms: seconds ? Date.now() + seconds * 1000 : null });
}

/** @param {string | null} channelId */
export function unmute(channelId) {
  return choose(channelId, { ...choiceOf(channelId), muted: false, muted_until_ms: null });
}

/** The choice as it is at this moment: a mute may have ended. @param {Choice} choice @param {number} nowMs */
export function current(choice, nowMs) {
  const over = choice.muted_until_ms !== null && choice.muted_until_ms <= nowMs;
  return over ? { ...choice, muted: false, muted_until_ms: null } : choice;
}

/** Shown at once; taken back where the server refuses. @param {string | null} channelId @param {Choice} choice */
async function choose(channelId, choice) {
  const before = choices.value.get(channelId) ?? UNSET;
  put(channelId, choice);
  const { level, muted, muted_until_ms: untilMs } = choice;
  const seconds = untilMs === null ? 0 : Math.max(1, Math.round((untilMs - Date.now()) / 1000));
  try {
    await ask("notifications_set", { level, muted, ...(channelId && { channel_id: channelId }), ...(muted && { mute_for_s: seconds }) });
  } catch (error) {
    put(channelId, before);
    throw error;
  }
}

/** @param {string | null} channelId @param {Choice} choice */
function put(channelId, { level, muted, muted_until_ms }) {
  choices.value = new Map(choices.value).set(channelId, { level, muted, muted_until_ms });
  wait();
}

/** Until the next mute ends. */
function wait() {
  now.value = Date.now();
  clearTimeout(timer);
  const ends = [...choices.value.values()].map(({ muted_until_ms: untilMs }) => untilMs ?? 0).filter((untilMs) => untilMs > now.value);
  if (ends.length) timer = setTimeout(wait, Math.min(LONGEST_WAIT_MS, Math.min(...ends) - now.value + 1));
}

listen({
  greet({ notifications }) {
    choices.value = new Map(notifications.map(({ channel_id: id, ...choice }) => [id, choice]));
    wait();
  },
  recall(scene) {
    choices.value = new Map(scene.notifications);
    wait();
  },
  hear(event, data) {
    if (event === "notifications_changed") put(data.channel_id, data);
  },
  forget() {
    choices.value = new Map();
    clearTimeout(timer);
  },
});
