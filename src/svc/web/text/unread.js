// What is unread in each channel, kept up to date by what the server pushes: differences. What is on
// the screen is for others to say.

const MOST = 500; // Means that or more.

const NONE = { read_up_to: "", last: null, unread: 0, mentions: 0 };

/** The counts of a greeting by channel. */
export function unreadOf(list) {
  return Object.fromEntries(list.map(({ channel_id: id, ...counts }) => [id, counts]));
}

/**
 * Take a push into `unread`, {channelId: {read_up_to, last, unread, mentions}}; says whether it was about that.
 * `blocked` is the Set of members who reach us by no mention.
 */
export function hearOfUnread(unread, event, data, { ownId, blocked }) {
  const { channel_id: channelId, id } = data;
  const counts = unread[channelId] ?? NONE;
  switch (event) {
    case "message_posted":
      unread[channelId] = posted(counts, data, ownId, blocked);
      return true;
    case "message_deleted":
      if (id > counts.read_up_to) unread[channelId] = { ...counts, unread: Math.max(0, counts.unread - 1) };
      return true;
    case "unread": {
      const { channel_id: _, ...present } = data;
      unread[channelId] = present;
      return true;
    }
    case "channel_deleted":
      delete unread[channelId];
      return true;
    default:
      return false;
  }
}

function posted(counts, { id, author, mentions }, ownId, blocked) {
  if (author.id === ownId) return { read_up_to: id, last: id, unread: 0, mentions: 0 };
  const mentioned = mentions.includes(ownId) && !blocked.has(author.id);
  const more = (count) => Math.min(MOST, count + 1);
  return { ...counts, last: id, unread: more(counts.unread), mentions: mentioned ? more(counts.mentions) : counts.mentions };
}
