// The time until we may send the next message in a channel in slow mode: counted from our last message, or
// given by the server's rejection. Uses this device's clock. The wait survives a reload of this tab.

/** @import { Signal } from "../vendor/signals.js" */

import { keep, keptLike } from "../transport/browser_storage.js";
import { signal } from "../vendor/signals.js";
import { channelsById, may } from "./channels.js";

const KEPT = "svc.slow";
const SESSION = "sessionStorage";

/** Maps each channel to the end of the wait, in ms since 1970. @type {Signal<Record<string, number>>} */
const until = signal(keptLike({}, KEPT, SESSION));

/**
 * Start the wait after a message was accepted, or after a rejection that states this wait.
 * @param {string} channelId
 * @param {number} [waitMs]
 */
export function begins(channelId, waitMs = slowness(channelId) * 1000) {
  if (!waitMs) return;
  until.value = { ...until.value, [channelId]: Date.now() + waitMs };
  keep(KEPT, until.value, SESSION);
}

/** Return the seconds left; 0 if slow mode has ended. @param {string} channelId */
export function secondsLeft(channelId) {
  const left = Math.ceil((Number(until.value[channelId] ?? 0) - Date.now()) / 1000);
  return Math.max(0, Math.min(left, slowness(channelId)));
}

/** Return our slow mode interval in seconds; 0 for moderators, who do not wait. @param {string} channelId */
const slowness = (channelId) =>
  may("manage_messages", channelId) ? 0 : (channelsById.value.get(channelId)?.slow_mode_s ?? 0);
