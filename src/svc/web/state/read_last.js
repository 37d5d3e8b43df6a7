// What was read last, kept for when the server cannot be reached: the channels, and the newest messages of those that
// were open last. Gone with the sign-in.

/** @import { Message, Pushes } from "../types/api.js" */
/** @import { KeptPage, Scene } from "../types/wire.js" */
/** @import { Signal } from "../vendor/signals.js" */

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
const EVERY_MS = 1000; // What changes is kept as often as that.
const PATIENCE_MS = 3000; // A server that takes longer is as good as none.
const SCENE = "scene"; // Everything but the messages: {member, info, channels, …, at_ms}.
const PAGE = "messages "; // And the id of the channel: {messages, more_before, at_ms}.

/** When what is shown was so, in ms since 1970; null where it is what the server says. @type {Signal<number | null>} */
export const shownFrom = signal(null);

let greeted = false; // Since the page was loaded.
/** @type {Map<string, KeptPage>} */
let pages = new Map(); // What is shown from here, by channel.
/** @type {Map<string, {make: () => object, timer: number}>} */
const waiting = new Map();

/** When the messages of this channel were so, while they are shown from here. @param {string} channelId */
export const pageFrom = (channelId) => (shownFrom.value === null ? null : pages.get(channelId)?.at_ms ?? shownFrom.value);

/** Show what is kept, if the server is still silent then. */
async function show() {
  if (greeted || shownFrom.value !== null) return;
  const scene = /** @type {Scene | undefined} */ (await kept(SCENE).catch(() => undefined));
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

/** @returns {Promise<Map<string, KeptPage>>} */
async function keptPages() {
  const found = new Map();
  for (const name of /** @type {string[]} */ (await names())) if (name.startsWith(PAGE)) found.set(name.slice(PAGE.length), await kept(name));
  return found;
}

/** As it is once the time is over: what changes all the time is kept all the same. @param {string} name @param {() => object} make */
function later(name, make) {
  const waits = waiting.get(name);
  if (waits) {
    waits.make = make;
    return;
  }
  const one = { make, timer: setTimeout(() => {
    waiting.delete(name);
    if (member.value && greeted) keep(name, one.make()).then(tidy).catch(() => {}); // A full disk is no fault of the reader's.
  }, EVERY_MS) };
  waiting.set(name, one);
}

/** Keep no more than there may be, and nothing of channels that we do not see any more. */
async function tidy() {
  const found = [...(await keptPages())].sort(([, one], [, other]) => other.at_ms - one.at_ms);
  const visible = found.filter(([id]) => channelsById.value.has(id)).slice(0, MOST_CHANNELS).map(([id]) => id);
  await Promise.all(found.filter(([id]) => !visible.includes(id)).map(([id]) => drop(PAGE + id)));
}

/** What is deleted or changed is so here too, where nobody reads it at the moment. @param {string} channelId @param {(messages: Message[]) => Message[]} change */
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
  const channel = channelsById.value.get(place.value?.channelId ?? "");
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
  hear(event, data) {
    if ((event !== "message_deleted" && event !== "message_edited") || data.channel_id === place.value?.channelId) return;
    follow(data.channel_id, (messages) => {
      if (event === "message_deleted") return messages.filter(({ id }) => id !== data.id);
      return messages.map((each) => (each.id === data.id ? { ...each, ...data } : each));
    }).catch(() => {});
  },
  forget() {
    greeted = false;
    shownFrom.value = null;
    for (const { timer } of waiting.values()) clearTimeout(timer);
    waiting.clear();
    dropAll().catch(() => {});
  },
});
