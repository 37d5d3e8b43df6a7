// Tracks the threads that we follow and their unread counts. docs/live.md describes how messages are counted.

/** @import { Message, ThreadState } from "../types/api.js" */
/** @import { Signal } from "../vendor/signals.js" */

import { computed, signal } from "../vendor/signals.js";
import { blocked } from "./people.js";
import { mentionsUs } from "./alert_rules.js";
import { ask, listen, member } from "./server.js";
import { MAX_COUNT } from "./unread_counts.js";

/**
 * The threads by the id of their first message: {channel_id, thread, following, read_up_to, last, unread,
 * mentions}.
 * @type {Signal<Map<string, ThreadState>>}
 */
export const threads = signal(new Map());
/** The number of unread messages in all threads. */
export const unreadInThreads = computed(() =>
  [...threads.value.values()].reduce((sum, thread) => sum + thread.unread, 0),
);

/**
 * Mark the thread as read up to this message.
 * @param {string} thread
 * @param {string} messageId
 */
export function readThread(thread, messageId) {
  const state = threads.value.get(thread);
  if (!state || !(state.unread || state.mentions)) return;
  put({ ...state, unread: 0, mentions: 0, read_up_to: messageId });
  ask("read", { channel_id: state.channel_id, message_id: messageId, thread }).then(
    (event) => {
      if ("thread" in event) put(event);
    },
    () => {},
  );
}

/** Follow or unfollow a thread. @param {string} channelId @param {string} thread @param {boolean} on */
export async function follow(channelId, thread, on) {
  put(await ask(on ? "thread_follow" : "thread_unfollow", { channel_id: channelId, message_id: thread }));
}

/** @param {ThreadState} state */
function put(state) {
  const others = new Map(threads.value);
  if (state.following) others.set(state.thread, state);
  else others.delete(state.thread);
  threads.value = others;
}

/** @param {Message} message */
function posted(message) {
  const state = threads.value.get(message.thread ?? "");
  const [own, { id, author }] = [member.value, message];
  if (!state || !own) return;
  if (author.id === own.id) {
    put({ ...state, last: id, read_up_to: id, unread: 0, mentions: 0 });
    return;
  }
  const mentioned = !blocked.value.has(author.id) && mentionsUs(message, own);
  const more = (/** @type {number} */ count) => Math.min(MAX_COUNT, count + 1);
  put({
    ...state,
    last: id,
    unread: more(state.unread),
    mentions: mentioned ? more(state.mentions) : state.mentions,
  });
}

listen({
  onGreeting(greeting) {
    threads.value = new Map((greeting.threads ?? []).map((state) => [state.thread, state]));
  },
  onPush(event, data) {
    if (event === "thread_state") put(data);
    else if (event === "message_posted" && data.thread) posted(data);
    else if (event === "message_deleted" && data.thread) {
      const state = threads.value.get(data.thread);
      if (state && data.id > (state.read_up_to ?? ""))
        put({ ...state, unread: Math.max(0, state.unread - 1) });
    } else if (event === "channel_deleted") {
      threads.value = new Map([...threads.value].filter(([, { channel_id: id }]) => id !== data.channel_id));
    }
  },
  onSignOut() {
    threads.value = new Map();
  },
});
