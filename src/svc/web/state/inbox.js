// Loads the messages that mention us in any channel or thread, newest first, while the inbox is open. Pushes
// update the list.

/** @import { Message } from "../types/api.js" */
/** @import { Signal } from "../vendor/signals.js" */

import { computed, signal } from "../vendor/signals.js";
import { channelsById } from "./channels.js";
import { blocked } from "./people.js";
import { mentionsUs } from "./alert_rules.js";
import { ask, listen, member } from "./server.js";
import { readThread, threads } from "./threads.js";
import { read, unread } from "./unread_counts.js";

/** @type {Signal<Message[]>} */
const known = signal([]);
/** Whether there are older messages, whether they are loading, and the last error. */
export const inbox = signal({ more: false, busy: false, problem: /** @type {unknown} */ (null) });
/**
 * The loaded messages, except those in channels that we can no longer see and those by members we have
 * blocked.
 */
export const mentions = computed(() =>
  known.value.filter(
    ({ channel_id: id, author }) => channelsById.value.has(id) && !blocked.value.has(author.id),
  ),
);

let open = false;
let round = 0; // The number of the current round of requests. Responses from earlier rounds are ignored.

/** Start loading mentions when the inbox opens, or stop when it closes. @param {boolean} is */
export function lookIntoInbox(is) {
  open = is;
  round += 1;
  known.value = [];
  inbox.value = { more: false, busy: false, problem: null };
  if (open) fetchMore();
}

/** Load older messages. */
export async function fetchMore() {
  const requested = round;
  // A list filled only by pushed events may have gaps, so start from the newest message.
  const before = inbox.value.more ? known.value.at(-1)?.id : null;
  inbox.value = { ...inbox.value, busy: true, problem: null };
  try {
    const { messages, more } = await ask("mentions", before ? { before } : {});
    if (requested !== round) return;
    add(messages);
    inbox.value = { more, busy: false, problem: null };
  } catch (problem) {
    if (requested === round) inbox.value = { ...inbox.value, busy: false, problem };
  }
}

/** Return whether a message is unread. @param {Message} message */
export function isUnread({ id, channel_id: channelId, thread }) {
  const counts = thread ? threads.value.get(thread) : unread.value[channelId];
  return Boolean(counts?.mentions) && id > (counts?.read_up_to ?? "");
}

/** Mark every channel and thread with an unread mention as read. */
export function readMentions() {
  for (const [id, { last, mentions: count }] of Object.entries(unread.value))
    if (last && count) read(id, last);
  for (const { thread, last, mentions: count } of threads.value.values())
    if (last && count) readThread(thread, last);
}

/** @param {Message[]} messages */
function add(messages) {
  const all = new Map([...known.value, ...messages].map((message) => [message.id, message]));
  known.value = [...all.values()].sort((a, b) => (a.id < b.id ? 1 : -1));
}

listen({
  onGreeting() {
    if (open) lookIntoInbox(true);
  },
  onPush(event, data) {
    if (!open) return;
    const own = member.value;
    if (event === "message_posted" && own && data.author.id !== own.id && mentionsUs(data, own)) add([data]);
    else if (event === "message_deleted") known.value = known.value.filter(({ id }) => id !== data.id);
    else if (event === "message_edited" || event === "attachments_changed") {
      const changed = known.value.map((message) =>
        message.id === data.id ? { ...message, ...data } : message,
      );
      known.value = changed.filter((message) => own && mentionsUs(message, own));
    }
  },
  onSignOut() {
    open = false;
    known.value = [];
  },
});
