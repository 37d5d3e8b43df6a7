// What was read last, kept for when the server cannot be reached: the channels, and the newest messages of those that
// were open last. Gone with the sign-in.

import { drop, dropAll, keep, kept, names } from "../transport/read_last.js";
import { effect, signal, untracked } from "../vendor/signals.js";
import { channels, channelsById, permissions } from "./channels.js";
import { conversationOf } from "./conversation.js";
import { emoji } from "./emoji.js";
import { choices } from "./notifications.js";
import { roles } from "./people.js";
import { place } from "./place.js";
import { connection, info, listen, member, recall } from "./server.js";
import { unread } from "./unread.js";

const MOST_CHANNELS = 10;
const MOST_MESSAGES = 50;
const QUIET_MS = 1000; // So long nothing changes before it is kept.
const PATIENCE_MS = 3000; // A server that takes longer is as good as none.
const SCENE = "scene"; // Everything but the messages: {member, info, channels, …, at_ms}.
const PAGE = "messages "; // And the id of the channel: {messages, more_before, at_ms}.

/** When what is shown was so, in ms since 1970; null where it is what the server says. */
export const shownFrom = signal(null);

let greeted = false; // Since the page was loaded.
let pages = new Map(); // What is shown from here, by channel.
const timers = new Map();

/** When the messages of this channel were so, while they are shown from here. */
export const pageFrom = (channelId) => (shownFrom.value === null ? null : pages.get(channelId)?.at_ms ?? shownFrom.value);

/** Show what is kept, if the server is still silent then. */
async function show() {
  if (greeted || shownFrom.value !== null) return;
  const scene = await kept(SCENE).catch(() => undefined);
  const found = scene ? await keptPages() : new Map();
  if (!scene || greeted || shownFrom.value !== null || scene.member.id !== member.value?.id) return;
  pages = found;
  try {
    recall({ ...scene, pages });
    shownFrom.value = scene.at_ms;
  } catch {
    dropAll().catch(() => {}); // An earlier version kept it, or somebody else.
  }
}

async function keptPages() {
  const found = new Map();
  for (const name of await names()) if (name.startsWith(PAGE)) found.set(name.slice(PAGE.length), await kept(name));
  return found;
}

function later(name, make) {
  clearTimeout(timers.get(name));
  timers.set(name, setTimeout(() => {
    timers.delete(name);
    if (member.value && greeted) keep(name, make()).then(tidy).catch(() => {}); // A full disk is no fault of the reader's.
  }, QUIET_MS));
}

/** Keep no more than there may be, and nothing of channels that we do not see any more. */
async function tidy() {
  const found = [...(await keptPages())].sort(([, one], [, other]) => other.at_ms - one.at_ms);
  const visible = found.filter(([id]) => channelsById.value.has(id)).slice(0, MOST_CHANNELS).map(([id]) => id);
  await Promise.all(found.filter(([id]) => !visible.includes(id)).map(([id]) => drop(PAGE + id)));
}

/** What is deleted or changed is so here too, where nobody reads it at the moment. */
async function follow(channelId, change) {
  const page = await kept(PAGE + channelId);
  if (page) await keep(PAGE + channelId, { ...page, messages: change(page.messages) });
}

// At first, and while nothing was heard of the server.
let timer = 0;
effect(() => {
  clearTimeout(timer);
  if (connection.value === "offline") show();
  else if (connection.value === "connecting") timer = setTimeout(show, PATIENCE_MS);
});

effect(() => {
  const [own, all, may] = [member.value, channels.value, permissions.value];
  const scene = {
    member: own, info: info.value, channels: all, permissions: may, roles: roles.value, emoji: [...emoji.value.values()],
    unread: unread.value, notifications: [...choices.value],
  };
  if (own && greeted && all.length) later(SCENE, () => ({ ...scene, at_ms: Date.now() }));
});

effect(() => {
  const channel = channelsById.value.get(place.value?.channelId);
  if (channel?.type !== "text") return;
  const { messages, moreBefore, moreAfter, loaded } = untracked(() => conversationOf(channel.id));
  const [all, more] = [messages.value, moreBefore.value];
  if (!loaded.value || moreAfter.value || shownFrom.value !== null) return;
  later(PAGE + channel.id, () => ({ messages: all.slice(-MOST_MESSAGES), more_before: more || all.length > MOST_MESSAGES, at_ms: Date.now() }));
});

listen({
  greet() {
    greeted = true;
    shownFrom.value = null;
    pages = new Map();
  },
  hear(event, { channel_id: channelId, id, ...changes }) {
    const change = {
      message_deleted: (messages) => messages.filter((each) => each.id !== id),
      message_edited: (messages) => messages.map((each) => (each.id === id ? { ...each, ...changes } : each)),
    }[event];
    if (change && channelId !== place.value?.channelId) follow(channelId, change).catch(() => {});
  },
  forget() {
    greeted = false;
    shownFrom.value = null;
    for (const each of timers.values()) clearTimeout(each);
    timers.clear();
    dropAll().catch(() => {});
  },
});
