// Manages the notification settings: a level for all channels, a level for each channel, and mutes. The
// server stores the settings and applies them to all our devices.

/** @import { Notifications } from "../types/api.js" */
/** @import { Choice } from "../types/wire.js" */
/** @import { Signal } from "../vendor/signals.js" */

import { signal } from "../vendor/signals.js";
import { ask, listen } from "./server.js";

/** @type {Choice} */
const UNSET = { level: null, muted: false, muted_until_ms: null };
// Longer waits use several timers, because browsers limit a timer to 24 days.
const MAX_TIMER_MS = 24 * 3600_000;

/** The notification levels, from most to fewest notifications. */
export const LEVELS = /** @type {const} */ (["all", "mentions", "nothing"]);
/** The default notification level. */
export const DEFAULT_LEVEL = "mentions";

/**
 * The settings, {level, muted, muted_until_ms}, by channel id. The key null is for all channels.
 * @type {Signal<Map<string | null, Choice>>}
 */
export const choices = signal(new Map());
const now = signal(Date.now()); // The current time, updated when a mute ends.
let timer = 0;

/**
 * Return the settings of this channel; null returns those for all channels.
 * @param {string | null} channelId
 */
export const choiceOf = (channelId) => current(choices.value.get(channelId) ?? UNSET, now.value);

/** Return the effective level in a channel, regardless of mutes. @param {string | null} channelId */
export const levelOf = (channelId) => choiceOf(channelId).level ?? choiceOf(null).level ?? DEFAULT_LEVEL;

/**
 * Return whether this channel or all channels are muted.
 * @param {string | null} channelId
 */
export const isMuted = (channelId) => choiceOf(channelId).muted || choiceOf(null).muted;

/**
 * Choose a level for a channel, or for all channels if `channelId` is null.
 * @param {string | null} channelId
 * @param {Notifications["level"]} level
 */
export function chooseLevel(channelId, level) {
  return choose(channelId, { ...choiceOf(channelId), level });
}

/**
 * Mute a channel, or all channels if null, for this many seconds; 0 means until unmuted.
 * @param {string | null} channelId
 * @param {number} seconds
 */
export function mute(channelId, seconds) {
  return choose(channelId, {
    ...choiceOf(channelId),
    muted: true,
    muted_until_ms: seconds ? Date.now() + seconds * 1000 : null,
  });
}

/** @param {string | null} channelId */
export function unmute(channelId) {
  return choose(channelId, { ...choiceOf(channelId), muted: false, muted_until_ms: null });
}

/**
 * Return the settings that apply at `nowMs`. A mute may have ended by then.
 * @param {Choice} choice
 * @param {number} nowMs
 */
export function current(choice, nowMs) {
  const over = choice.muted_until_ms !== null && choice.muted_until_ms <= nowMs;
  return over ? { ...choice, muted: false, muted_until_ms: null } : choice;
}

/**
 * Apply the settings immediately, and revert them if the server rejects them.
 * @param {string | null} channelId
 * @param {Choice} choice
 */
async function choose(channelId, choice) {
  const before = choices.value.get(channelId) ?? UNSET;
  put(channelId, choice);
  const { level, muted, muted_until_ms: untilMs } = choice;
  const seconds = untilMs === null ? 0 : Math.max(1, Math.round((untilMs - Date.now()) / 1000));
  try {
    await ask("notifications_set", {
      level,
      muted,
      ...(channelId && { channel_id: channelId }),
      ...(muted && { mute_for_s: seconds }),
    });
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

/** Update `now`, and schedule the next update for when the next mute ends. */
function wait() {
  now.value = Date.now();
  clearTimeout(timer);
  const ends = [...choices.value.values()]
    .map(({ muted_until_ms: untilMs }) => untilMs ?? 0)
    .filter((untilMs) => untilMs > now.value);
  if (ends.length) timer = setTimeout(wait, Math.min(MAX_TIMER_MS, Math.min(...ends) - now.value + 1));
}

listen({
  onGreeting({ notifications }) {
    choices.value = new Map(notifications.map(({ channel_id: id, ...choice }) => [id, choice]));
    wait();
  },
  onStoredScene(scene) {
    choices.value = new Map(scene.notifications);
    wait();
  },
  onPush(event, data) {
    if (event === "notifications_changed") put(data.channel_id, data);
  },
  onSignOut() {
    choices.value = new Map();
    clearTimeout(timer);
  },
});
