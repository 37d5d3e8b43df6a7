// The spot of messages: a channel, or the thread of one of its messages. A spot is one string, the key for
// drafts, uploads and outgoing messages.

/** @param {string} channelId @param {string | null} [thread] the id of the thread's first message */
export const spotOf = (channelId, thread = null) => (thread ? `${channelId}/${thread}` : channelId);

/** Return {channelId, thread}; `thread` is null in the channel itself. @param {string} spot */
export function partsOf(spot) {
  const [channelId, thread = null] = spot.split("/");
  return { channelId, thread };
}
