// Stores an offline copy of the channel list and of the newest messages in the most recently opened channels.
// Signing out deletes the copy.

/** @import { Message, Pushes } from "../types/api.js" */
/** @import { StoredPage, Scene } from "../types/wire.js" */
/** @import { Signal } from "../vendor/signals.js" */

import { deleteCopy, deleteAllCopies, saveCopy, loadCopy, names } from "../transport/offline_copy.js";
import { effect, signal, untracked } from "../vendor/signals.js";
import { channels, channelsById, permissions } from "./channels.js";
import { conversationOf } from "./conversation.js";
import { emoji } from "./emoji.js";
import { choices } from "./notifications.js";
import { roles } from "./people.js";
import { currentLocation } from "./navigation.js";
import { connection, info, listen, member, recall } from "./server.js";
import { unread } from "./unread_counts.js";

const MAX_CHANNELS = 10;
const MAX_MESSAGES = 50;
const EVERY_MS = 1000; // The minimum interval between writes of the same value.
const PATIENCE_MS = 3000; // A server that takes longer counts as unreachable.
const SCENE = "scene"; // The key of everything except the messages: {member, info, channels, …, at_ms}.
const PAGE = "messages "; // The key's prefix, before the channel's id. Value: {messages, more_before, at_ms}.

/**
 * When the displayed data was stored, in ms since 1970; null if it is current.
 * @type {Signal<number | null>}
 */
export const shownFrom = signal(null);

let greeted = false; // Whether a greeting has arrived since the page was loaded.
/** @type {Map<string, StoredPage>} */
let pages = new Map(); // The displayed pages, by channel.
/** @type {Map<string, {make: () => object, timer: number}>} */
const waiting = new Map();

/**
 * Return when the displayed messages of this channel were stored; null if they are current.
 * @param {string} channelId
 */
export const pageFrom = (channelId) =>
  shownFrom.value === null ? null : (pages.get(channelId)?.at_ms ?? shownFrom.value);

/** Read the copy, and show it if the server is still unreachable. */
async function show() {
  if (greeted || shownFrom.value !== null) return;
  const scene = /** @type {Scene | undefined} */ (await loadCopy(SCENE).catch(() => undefined));
  const stored = scene ? await keptPages() : new Map();
  if (!scene || greeted || shownFrom.value !== null || scene.member.id !== member.value?.id) return;
  pages = stored;
  try {
    recall({ ...scene, pages });
    shownFrom.value = scene.at_ms;
  } catch {
    deleteAllCopies().catch(() => {}); // The copy was stored by an earlier version or for another member.
  }
}

/** @returns {Promise<Map<string, StoredPage>>} */
async function keptPages() {
  const copies = new Map();
  for (const name of /** @type {string[]} */ (await names()))
    if (name.startsWith(PAGE)) copies.set(name.slice(PAGE.length), await loadCopy(name));
  return copies;
}

/**
 * Store the state at the end of the current interval. Later changes do not extend the interval, so frequent
 * changes cannot postpone the write forever.
 * @param {string} name
 * @param {() => object} make
 */
function later(name, make) {
  const waits = waiting.get(name);
  if (waits) {
    waits.make = make;
    return;
  }
  const write = {
    make,
    timer: setTimeout(() => {
      waiting.delete(name);
      if (member.value && greeted)
        saveCopy(name, write.make())
          .then(tidy)
          .catch(() => {}); // Do not bother the member with a full disk.
    }, EVERY_MS),
  };
  waiting.set(name, write);
}

/** Delete the messages of channels that exceed the limit or are no longer visible. */
async function tidy() {
  const copies = [...(await keptPages())].sort(([, a], [, b]) => b.at_ms - a.at_ms);
  const visible = copies
    .filter(([id]) => channelsById.value.has(id))
    .slice(0, MAX_CHANNELS)
    .map(([id]) => id);
  await Promise.all(copies.filter(([id]) => !visible.includes(id)).map(([id]) => deleteCopy(PAGE + id)));
}

/**
 * Apply a deletion or an edit to the copy of a channel that is not open.
 * @param {string} channelId
 * @param {(messages: Message[]) => Message[]} change
 */
async function follow(channelId, change) {
  const page = await loadCopy(PAGE + channelId);
  if (page) await saveCopy(PAGE + channelId, { ...page, messages: change(page.messages) });
}

// Show the copy if the server is slow at startup or unreachable.
let timer = 0;
effect(() => {
  clearTimeout(timer);
  if (connection.value === "offline") show();
  else if (connection.value === "connecting") timer = setTimeout(show, PATIENCE_MS);
});

effect(() => {
  const [own, all, granted] = [member.value, channels.value, permissions.value];
  const scene = {
    member: own,
    info: info.value,
    channels: all,
    permissions: granted,
    roles: roles.value,
    emoji: [...emoji.value.values()],
    unread: unread.value,
    notifications: [...choices.value],
  };
  if (own && greeted && all.length) later(SCENE, () => ({ ...scene, at_ms: Date.now() }));
});

effect(() => {
  const channel = channelsById.value.get(currentLocation.value?.channelId ?? "");
  if (channel?.type !== "text") return;
  const { messages, moreBefore, moreAfter, loaded } = untracked(() => conversationOf(channel.id));
  const [all, more] = [messages.value, moreBefore.value];
  if (!loaded.value || moreAfter.value || shownFrom.value !== null) return;
  later(PAGE + channel.id, () => ({
    messages: all.slice(-MAX_MESSAGES),
    more_before: more || all.length > MAX_MESSAGES,
    at_ms: Date.now(),
  }));
});

listen({
  onGreeting() {
    greeted = true;
    shownFrom.value = null;
    pages = new Map();
  },
  onPush(event, data) {
    if (
      (event !== "message_deleted" && event !== "message_edited") ||
      data.channel_id === currentLocation.value?.channelId
    )
      return;
    follow(data.channel_id, (messages) => {
      if (event === "message_deleted") return messages.filter(({ id }) => id !== data.id);
      return messages.map((message) => (message.id === data.id ? { ...message, ...data } : message));
    }).catch(() => {});
  },
  onSignOut() {
    greeted = false;
    shownFrom.value = null;
    for (const { timer } of waiting.values()) clearTimeout(timer);
    waiting.clear();
    deleteAllCopies().catch(() => {});
  },
});
