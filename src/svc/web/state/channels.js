// Keeps the visible channels in order, our permissions in each channel, and which categories are collapsed in
// this browser. Computes the key under which a channel's or thread's drafts, uploads and outgoing messages
// are stored. state/conversation.js keeps the messages.

/**
 * @import { Channel, Greeting } from "../types/api.js"
 * @import { Permission } from "../types/wire.js"
 * @import { Signal } from "../vendor/signals.js"
 */

import { api, listen } from "./server.js";
import { storeValue, storedValue } from "../transport/browser_storage.js";
import { computed, signal } from "../vendor/signals.js";

/** @type {Signal<Channel[]>} */
export const channels = signal([]);
export const channelsById = computed(() => new Map(channels.value.map((channel) => [channel.id, channel])));
export const textChannels = computed(() => channels.value.filter(({ type }) => type === "text"));
export const voiceChannels = computed(() => channels.value.filter(({ type }) => type === "voice"));
/**
 * Our permissions: {server: [permission], channels: {channelId: [permission]}}.
 * @type {Signal<Greeting["permissions"]>}
 */
export const permissions = signal({ server: [], channels: {} });

/**
 * Return whether we have this permission in the channel or, if no channel is given, on the server.
 * @param {Permission} permission
 * @param {string | null} [channelId]
 */
export function hasPermission(permission, channelId = null) {
  const { server, channels: inChannels } = permissions.value;
  return (channelId === null ? server : (inChannels[channelId] ?? [])).includes(permission);
}

/**
 * Return whether we have this permission in a call's room. In a private call, server-wide permissions apply.
 * @param {Permission} permission
 * @param {string} roomId
 */
export const mayInCall = (permission, roomId) =>
  hasPermission(permission, channelsById.value.has(roomId) ? roomId : null);

let requests = 0; // The number of requests so far. Only the response to the last one counts.

function askPermissions() {
  const mine = ++requests;
  // If the request fails, the server still rejects forbidden actions.
  api("GET", "/api/me/permissions").then(
    (response) => {
      if (mine === requests) permissions.value = response;
    },
    () => {},
  );
}

listen({
  onGreeting(greeting) {
    requests += 1;
    channels.value = greeting.channels;
    permissions.value = greeting.permissions;
  },
  onStoredScene(scene) {
    channels.value = scene.channels;
    permissions.value = scene.permissions;
  },
  onPush(event, data) {
    switch (event) {
      case "channel_created":
      case "channel_updated":
        // Request our permissions in the new channel.
        if (event === "channel_created") askPermissions();
        // An archived channel is removed from the list.
        channels.value = [
          ...channels.value.filter(({ id }) => id !== data.id),
          ...(data.archived ? [] : [data]),
        ].sort((a, b) => a.position - b.position);
        break;
      case "channel_deleted":
        channels.value = channels.value.filter(({ id }) => id !== data.channel_id);
        break;
      case "permissions_changed":
        askPermissions();
        break;
      default:
    }
  },
  onSignOut() {
    channels.value = [];
    permissions.value = { server: [], channels: {} };
  },
});

const STORED_FOLDED = "svc.folded";

/** The ids of the collapsed categories. */
export const collapsed = signal(new Set(storedValue(/** @type {string[]} */ ([]), STORED_FOLDED)));

/** @param {string} id */
export function toggleCollapsed(id) {
  const after = new Set(collapsed.value);
  if (!after.delete(id)) after.add(id);
  collapsed.value = after;
  storeValue(STORED_FOLDED, [...after]);
}

/**
 * Return the key of a conversation, which is a channel or the thread of one of its messages.
 * @param {string} channelId
 * @param {string | null} [thread] The id of the thread's first message.
 */
export const conversationKeyOf = (channelId, thread = null) =>
  thread ? `${channelId}/${thread}` : channelId;

/**
 * Split a conversation key into {channelId, thread}; `thread` is null for the channel itself.
 * @param {string} key
 */
export function channelAndThreadOf(key) {
  const [channelId, thread = null] = key.split("/");
  return { channelId, thread };
}
