// The channels that we see, kept up to date by what the server pushes: differences. Knows nothing of
// what is in them.

/** Take a push into `channels`, a list in its order; gives the list as it is then, the same where nothing changed. */
export function hearOfChannels(channels, event, data) {
  const others = (channelId) => channels.filter(({ id }) => id !== channelId);
  switch (event) {
    case "channel_created":
    case "channel_updated":
      return [...others(data.id), data].sort((one, other) => one.position - other.position);
    case "channel_deleted":
      return others(data.channel_id);
    default:
      return channels;
  }
}
