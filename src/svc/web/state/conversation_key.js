// The key of a conversation, which is a channel or the thread of one of its messages. Drafts, uploads and
// outgoing messages are stored under this key.

/** @param {string} channelId @param {string | null} [thread] the id of the thread's first message */
export const conversationKeyOf = (channelId, thread = null) =>
  thread ? `${channelId}/${thread}` : channelId;

/** Return {channelId, thread}; `thread` is null in the channel itself. @param {string} key */
export function channelAndThreadOf(key) {
  const [channelId, thread = null] = key.split("/");
  return { channelId, thread };
}
