// Tracks who is typing in each channel, and reports our own typing.

/** @import { About } from "../types/wire.js" */
/** @import { Signal } from "../vendor/signals.js" */

import { signal } from "../vendor/signals.js";
import { ask, listen } from "./server.js";

const GOOD_MS = 6000;
const AGAIN_MS = 3000;

/** The members who are typing: {channelId: [memberId]}. @type {Signal<{[channelId: string]: string[]}>} */
export const typing = signal({});

const timers = new Map();
const reported = new Map();

/**
 * Report that we are typing in this channel, unless this has been reported recently.
 * @param {string} channelId
 * @param {number} [now]
 */
export function weType(channelId, now = performance.now()) {
  if (now - (reported.get(channelId) ?? -AGAIN_MS) < AGAIN_MS) return;
  reported.set(channelId, now);
  ask("typing", { channel_id: channelId }).catch(() => {});
}

/**
 * Record that our message was sent, so that the next key press is reported immediately.
 * @param {string} channelId
 */
export const weSent = (channelId) => reported.delete(channelId);

/** @param {string} channelId @param {string} memberId */
function stop(channelId, memberId) {
  clearTimeout(timers.get(`${channelId} ${memberId}`));
  timers.delete(`${channelId} ${memberId}`);
  const now = typing.value[channelId];
  if (now?.includes(memberId))
    typing.value = { ...typing.value, [channelId]: now.filter((id) => id !== memberId) };
}

listen({
  onPush(event, data) {
    if (event === "message_posted") stop(data.channel_id, data.author.id);
    // Typing in a thread is not shown in the channel.
    if (event !== "typing" || data.thread) return;
    const { channel_id: channelId, member_id: memberId } = data;
    const key = `${channelId} ${memberId}`;
    clearTimeout(timers.get(key));
    timers.set(
      key,
      setTimeout(() => stop(channelId, memberId), GOOD_MS),
    );
    const now = typing.value[channelId] ?? [];
    if (!now.includes(memberId)) typing.value = { ...typing.value, [channelId]: [...now, memberId] };
  },
  onSignOut() {
    for (const timer of timers.values()) clearTimeout(timer);
    timers.clear();
    typing.value = {};
  },
});
