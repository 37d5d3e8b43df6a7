// Until when one waits before the next message in a channel in slow mode: from one's own last message on, or as the
// server said when it refused one. By this device's clock, and kept for a reload of this tab.

/** @import { Signal } from "../vendor/signals.js" */

import { keep, keptLike } from "../transport/kept.js";
import { signal } from "../vendor/signals.js";
import { channelsById, may } from "./channels.js";

const KEPT = "svc.slow";
const SESSION = "sessionStorage";

/** By channel, in ms. @type {Signal<Record<string, number>>} */
const until = signal(keptLike({}, KEPT, SESSION));

/** A message was taken, or refused with so long to wait. @param {string} channelId @param {number} [waitMs] */
export function begins(channelId, waitMs = slowness(channelId) * 1000) {
  if (!waitMs) return;
  until.value = { ...until.value, [channelId]: Date.now() + waitMs };
  keep(KEPT, until.value, SESSION);
}

/** How many seconds are left; none where there is no slow mode any more. @param {string} channelId */
export function secondsLeft(channelId) {
  const left = Math.ceil((Number(until.value[channelId] ?? 0) - Date.now()) / 1000);
  return Math.max(0, Math.min(left, slowness(channelId)));
}

/** In seconds, for us: moderators do not wait. @param {string} channelId */
const slowness = (channelId) => (may("manage_messages", channelId) ? 0 : channelsById.value.get(channelId)?.slow_mode_s ?? 0);
