// Keeps the unread counts of each channel, which are computed in the same way as on the server
// (docs/live.md). While a channel's newest message is visible, new messages in it count as read.

/** @import { Member, Message } from "../types/api.js" */
/** @import { About, Counts } from "../types/wire.js" */
/** @import { Signal } from "../vendor/signals.js" */

import { computed, signal } from "../vendor/signals.js";
import { isMuted } from "./notifications.js";
import { blocked } from "./people.js";
import { mentionsUs } from "./alert_rules.js";
import { ask, listen, member } from "./server.js";

export const MAX_COUNT = 500; // The maximum count, which stands for this many or more.
/** @type {Counts} */
const NONE = { read_up_to: "", last: null, unread: 0, mentions: 0 };

/** The counts: {channelId: {read_up_to, last, unread, mentions}}. @type {Signal<Record<string, Counts>>} */
export const unread = signal({});
/**
 * The channel whose newest message is currently visible, or null. Set by the channel's view.
 * @type {Signal<string | null>}
 */
export const seen = signal(null);

/** Return the counts to show for a channel, {unread, mentions}. @param {string} channelId */
export function countsOf(channelId) {
  return channelId === seen.value ? NONE : (unread.value[channelId] ?? NONE);
}

/** Format a count for a badge. @param {number} count */
export const shortCount = (count) => (count > 99 ? "99+" : count);

/** The sum of the counts on the member's other servers; 0 until state/other_servers.js is loaded. */
export const elsewhere = signal({ unread: 0, mentions: 0 });

/** The sum of the counts of all channels that are not muted. */
export const totals = computed(() => {
  const all = Object.keys(unread.value)
    .filter((id) => !isMuted(id))
    .map(countsOf);
  const sum = (/** @type {"unread" | "mentions"} */ name) =>
    all.reduce((total, counts) => total + counts[name], 0);
  return { unread: sum("unread"), mentions: sum("mentions") };
});

/**
 * The channel that the member has marked as unread and not opened since; or null.
 * @type {Signal<string | null>}
 */
export const leftUnread = signal(null);

/** The channels that the member has just marked as read. Cleared after a moment. @type {Signal<string[]>} */
export const markedRead = signal([]);

const sending = new Map(); // The read positions being sent to the server, by channel.

/** Mark a channel as read up to this message. @param {string} channelId @param {string} messageId */
export function read(channelId, messageId) {
  const counts = unread.value[channelId] ?? NONE;
  if (
    channelId === leftUnread.value ||
    !(counts.unread || counts.mentions) ||
    sending.get(channelId) === messageId
  )
    return;
  sending.set(channelId, messageId);
  ask("read", { channel_id: channelId, message_id: messageId }).catch(() => sending.delete(channelId));
}

/**
 * Mark this message and all later ones as unread.
 * @param {Pick<Message, "channel_id" | "id">} message
 */
export async function markUnread({ channel_id: channelId, id }) {
  leftUnread.value = channelId;
  sending.delete(channelId);
  await ask("read", { channel_id: channelId, message_id: id, back: true });
}

/** Mark all messages in these channels as read. @param {string[]} channelIds */
export function readAll(channelIds) {
  if (channelIds.includes(leftUnread.value ?? "")) leftUnread.value = null;
  markedRead.value = channelIds;
  markedRead.value = [];
  for (const id of channelIds) {
    const { last } = unread.value[id] ?? NONE;
    if (last) read(id, last);
  }
}

/** @param {Counts} counts @param {Message} message @param {Member} own */
function posted(counts, message, own) {
  const { id, author } = message;
  if (author.id === own.id) return { read_up_to: id, last: id, unread: 0, mentions: 0 };
  const mentioned = !blocked.value.has(author.id) && mentionsUs(message, own);
  const more = (/** @type {number} */ count) => Math.min(MAX_COUNT, count + 1);
  return {
    ...counts,
    last: id,
    unread: more(counts.unread),
    mentions: mentioned ? more(counts.mentions) : counts.mentions,
  };
}

/** @param {string} channelId @param {Counts} counts */
function put(channelId, counts) {
  unread.value = { ...unread.value, [channelId]: counts };
}

listen({
  onGreeting(greeting) {
    unread.value = Object.fromEntries(greeting.unread.map(({ channel_id: id, ...counts }) => [id, counts]));
    sending.clear();
  },
  onStoredScene(scene) {
    unread.value = scene.unread;
  },
  onResumption() {
    sending.clear();
  },
  onPush(event, data) {
    const { channel_id: channelId = "", id = "", thread } = /** @type {About} */ (data);
    const counts = unread.value[channelId] ?? NONE;
    // Threads are counted separately.
    if (thread && event !== "unread") return;
    if (event === "message_posted" && member.value) {
      if (channelId === leftUnread.value && data.author.id === member.value.id) leftUnread.value = null;
      put(channelId, posted(counts, data, member.value));
    } else if (event === "message_deleted" && id > counts.read_up_to)
      put(channelId, { ...counts, unread: Math.max(0, counts.unread - 1) });
    else if (event === "unread") {
      const { channel_id: _, ...present } = data;
      put(channelId, present);
      sending.delete(channelId);
    } else if (event === "channel_deleted") {
      const { [channelId]: _, ...rest } = unread.value;
      unread.value = rest;
    }
  },
  onSignOut() {
    leftUnread.value = null;
    unread.value = {};
  },
});
