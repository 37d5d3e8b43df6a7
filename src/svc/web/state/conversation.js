// Loads the messages of a channel or thread as a window onto its history. The window moves as the member
// scrolls, and pushes update it. The windows of the most recently opened channels stay loaded, so these
// channels reopen without delay.

/** @import { Message, MessagePage } from "../types/api.js" */
/** @import { About, Data, StoredPage, PushArguments } from "../types/wire.js" */
/** @import { Signal } from "../vendor/signals.js" */
/**
 * @typedef {(event: "history", wanted: Data<"history">) => Promise<MessagePage>} Asking
 * @typedef {Message["reactions"]} Reactions
 * @typedef {{channel_id: string, id: string, [detail: string]: any}} Changed
 */

import { signal } from "../vendor/signals.js";
import { explain } from "../words/words.js";
import { expected } from "./navigation.js";
import { api, ask, connection, listen, unhurried } from "./server.js";
import { channelAndThreadOf, conversationKeyOf } from "./channels.js";

const PAGE = 50;
const MOST = 100; // The maximum page size that the server accepts.
// The page size while scrolling. It is smaller because rendering a page interrupts scrolling.
const FURTHER = 40;
// The maximum number of loaded messages, about 3,000 elements. Dropped messages are fetched again when
// needed.
const MAX_LOADED = 210;
// At the newest message, the window is smaller, because each new message moves all the others on the page.
// Dropping the oldest messages also moves the others, so several messages are dropped at a time. This happens
// a moment after a new message arrives, so that it does not delay a key press.
const MAX_AT_END = 200;
const REST = 150;
const AT_ONCE = 50;
const DROPPED_AFTER_MS = 50;
const MAX_HELD = 6; // The maximum number of channels whose messages stay loaded.
const AGAIN_MS = 2000;

/** A window onto a channel or thread. Views read its signals, and only this class changes them. */
export class Conversation {
  /** The loaded messages, oldest first. @type {Signal<Message[]>} */
  messages = signal([]);
  moreBefore = signal(false);
  moreAfter = signal(false);
  loaded = signal(false);
  /** A sentence that explains why the messages could not be fetched, or "" if they could. */
  problem = signal("");
  /** Like `problem`, for messages before and after the loaded ones. */
  olderProblem = signal("");
  newerProblem = signal("");
  /**
   * Whether the member is viewing the newest message. Set by the view. Determines from which end messages are
   * dropped.
   */
  atEnd = true;

  #turn = 0;
  #loading = false;
  #dropping = 0;
  /** @type {PushArguments[]} */ #waiting = [];

  /**
   * @param {string} channelId
   * @param {string | null} [thread]
   * @param {Asking} [request] Resolves with the server's reply.
   */
  constructor(channelId, thread = null, request = ask) {
    this.channelId = channelId;
    this.thread = thread;
    this.key = conversationKeyOf(channelId, thread);
    this.ask = request;
  }

  /** Show the newest page of messages, which was requested earlier. @param {Promise<MessagePage>} page */
  expect(page) {
    const request = this.ask;
    this.ask = async (/** @type {Parameters<Asking>} */ ...wanted) => {
      this.ask = request;
      return (await page.catch(() => null)) ?? request(...wanted);
    };
  }

  /** Load only the newest page of messages. */
  newest(limit = PAGE) {
    return this.#load({ limit }, ({ messages, more_before: more }) => this.#hold(messages, more, false));
  }

  /**
   * Load the messages again. `last` is the id of the newest message on the server. If that message is loaded,
   * only changes to messages can have been missed.
   * @param {string | null | undefined} last
   */
  refresh(last) {
    const held = this.messages.value;
    if (!this.loaded.value || (last ?? "") > (held.at(-1)?.id ?? "")) this.newest();
    else
      unhurried(() => {
        if (isHeld(this)) this.newest(Math.min(Math.max(PAGE, this.messages.value.length), MOST));
      });
  }

  /**
   * Load the page around this message's position, even if the message was deleted.
   * @param {string} messageId
   */
  around(messageId) {
    return this.#load(
      { around: messageId },
      ({ messages, more_before: before, more_after: after }) => this.#hold(messages, before, after),
      true,
    );
  }

  /**
   * Load the page around the first message posted at or after this time. Resolves with that message's id. If
   * there is none, resolves with the id of the last message, or null.
   * @param {number} atMs
   */
  async at(atMs) {
    await this.#load(
      { at_ms: atMs },
      ({ messages, more_before: before, more_after: after }) => this.#hold(messages, before, after),
      true,
    );
    const held = this.messages.value;
    return (held.find(({ posted_at_ms: postedAt }) => postedAt >= atMs) ?? held.at(-1))?.id ?? null;
  }

  /**
   * Load the page after this message's position, even if the message was deleted. Resolves with the id of the
   * page's first message, or null.
   * @param {string} messageId
   */
  async behind(messageId) {
    /** @type {string | null} */
    let first = null;
    await this.#load(
      { after: messageId },
      ({ messages, more_after: after }) => {
        if (!messages.length) return;
        first = messages[0].id;
        this.#hold(messages, true, after);
      },
      true,
    );
    return first;
  }

  /** Load older messages. After a failure, do nothing unless `again` is set. */
  async older(again = false) {
    if (again) this.olderProblem.value = "";
    if (!this.moreBefore.value || this.olderProblem.value || this.#loading || !this.messages.value.length)
      return;
    await this.#load(
      { before: this.messages.value[0].id, limit: FURTHER },
      ({ messages, more_before: more }) => {
        const all = [...messages, ...this.messages.value];
        this.#hold(all.slice(0, MAX_LOADED), more, this.moreAfter.value || all.length > MAX_LOADED);
      },
      false,
      this.olderProblem,
    );
  }

  /** Load newer messages. After a failure, do nothing unless `again` is set. */
  async newer(again = false) {
    if (again) this.newerProblem.value = "";
    if (!this.moreAfter.value || this.newerProblem.value || this.#loading || !this.messages.value.length)
      return;
    await this.#load(
      { after: this.messages.value.at(-1)?.id, limit: FURTHER },
      ({ messages, more_after: more }) => {
        const all = [...this.messages.value, ...messages];
        this.#hold(all.slice(-MAX_LOADED), this.moreBefore.value || all.length > MAX_LOADED, more);
      },
      false,
      this.newerProblem,
    );
  }

  /** Retry loading the first page after a failure. */
  again() {
    this.problem.value = "";
    return this.newest();
  }

  /** Apply a push about this channel. @param {PushArguments} push */
  hear(...push) {
    if (this.#loading) this.#waiting.push(push);
    this.#apply(...push);
  }

  /**
   * Show the stored messages from when the server was last reachable.
   * @param {Pick<StoredPage, "messages" | "more_before">} page
   */
  recall({ messages, more_before: more }) {
    if (!this.loaded.value) this.#hold(messages, more, false);
  }

  /** Add a message that we have sent and the server has stored. @param {Message} message */
  take(message) {
    this.hear("message_posted", message);
  }

  /** @param {Message[]} messages @param {boolean} before @param {boolean} after */
  #hold(messages, before, after) {
    this.messages.value = messages;
    this.moreBefore.value = before;
    this.moreAfter.value = after;
    this.loaded.value = true;
    this.problem.value = this.olderProblem.value = this.newerProblem.value = "";
  }

  /** @param {Omit<Data<"history">, "channel_id">} cursor @param {(page: MessagePage) => void} take */
  async #load(cursor, take, strict = false, problem = this.problem) {
    const turn = ++this.#turn;
    this.#loading = true;
    this.#waiting = [];
    try {
      const page = await this.ask("history", { ...newestOf(this.channelId, this.thread), ...cursor });
      if (turn !== this.#turn) return;
      take(page);
      problem.value = "";
      // The page may be older or newer than these pushes. Applying a push twice is harmless.
      for (const push of this.#waiting.splice(0)) this.#apply(...push);
    } catch (/** @type {any} */ error) {
      if (strict && error.status !== undefined) throw error;
      if (turn !== this.#turn) return;
      const lost = error.code === "unreachable";
      // If the connection was lost, the next one loads the messages anyway. If the connection is up, only the
      // response was lost.
      if (!lost || (problem !== this.problem && connection.value === "online"))
        problem.value = explain(error);
      else if (!strict && connection.value === "online") setTimeout(() => this.#unanswered(turn), AGAIN_MS);
    } finally {
      if (turn === this.#turn) this.#loading = false;
    }
  }

  /** @param {number} turn */
  #unanswered(turn) {
    if (turn === this.#turn && isHeld(this) && !this.loaded.value) this.newest();
  }

  /** @param {PushArguments} push */
  #apply(...[event, data]) {
    const { channel_id: _channel, id, ...rest } = /** @type {Changed} */ (data);
    switch (event) {
      case "message_posted":
        // A channel does not show the messages in its threads.
        if ((data.thread ?? null) === this.thread) this.#add(data);
        break;
      case "thread_changed":
      case "message_edited":
      case "attachments_changed":
      case "previews_changed":
      case "pins_changed":
        this.#change(id, () => rest);
        break;
      case "message_deleted":
        if (this.#has(id)) this.messages.value = this.messages.value.filter((message) => message.id !== id);
        break;
      case "reactions_changed":
        this.#change(id, ({ reactions }) => ({ reactions: changedReactions(reactions, data) }));
        break;
      default:
    }
  }

  /** @param {string} wanted */
  #has(wanted) {
    return this.messages.value.some(({ id }) => id === wanted);
  }

  /** @param {Message} message */
  #add(message) {
    if (!this.loaded.value || this.moreAfter.value || this.#has(message.id)) return;
    const held = this.messages.value;
    if (held.length >= MAX_LOADED && !this.atEnd) {
      this.moreAfter.value = true;
      return;
    }
    // Ids increase with time, but two messages posted at the same time can be pushed in either order.
    this.messages.value = [...held, message].sort((a, b) => (a.id < b.id ? -1 : 1));
    if (held.length >= MAX_LOADED)
      this.#drop(); // Drop old messages now, because timers can run late while the page is hidden.
    else if (held.length >= MAX_AT_END) this.#dropping ||= setTimeout(() => this.#drop(), DROPPED_AFTER_MS);
  }

  #drop() {
    clearTimeout(this.#dropping);
    this.#dropping = 0;
    const all = this.messages.value;
    if (!this.atEnd || all.length <= MAX_AT_END) return;
    this.moreBefore.value = true;
    this.messages.value = all.slice(-Math.max(REST, all.length - AT_ONCE));
  }

  /** @param {string} id @param {(message: Message) => Partial<Message>} changes */
  #change(id, changes) {
    if (!this.#has(id)) return;
    this.messages.value = this.messages.value.map((message) =>
      message.id === id ? { ...message, ...changes(message) } : message,
    );
  }
}

/**
 * Fetch any message in the channel. Rejects if it was deleted.
 * @param {string} channelId
 * @param {string} id
 */
export const fetchMessage = (channelId, id) =>
  api("GET", `/api/channels/${encodeURIComponent(channelId)}/messages/${encodeURIComponent(id)}`);

/**
 * Return the reactions after a change. Emoji are sorted by code point, and members by when they reacted.
 * @param {Reactions} reactions
 * @param {{emoji: string, member_id: string, added: boolean}} change
 */
export function changedReactions(reactions, { emoji, member_id: memberId, added }) {
  const before = reactions.find((reaction) => reaction.emoji === emoji)?.member_ids ?? [];
  const others = before.filter((id) => id !== memberId);
  const members = added ? (before.includes(memberId) ? before : [...before, memberId]) : others;
  const otherReactions = reactions.filter((reaction) => reaction.emoji !== emoji);
  if (!members.length) return otherReactions;
  return [...otherReactions, { emoji, member_ids: members }].sort((a, b) => (a.emoji < b.emoji ? -1 : 1));
}

/** @param {string} channelId @param {string | null} [thread] */
const newestOf = (channelId, thread = null) => ({
  channel_id: channelId,
  limit: PAGE,
  ...(thread && { thread }),
});

/**
 * The newest page of the channel that will open, requested before the greeting arrives.
 * @type {{key: string, page: Promise<MessagePage>} | null}
 */
let prefetched = null;
/**
 * The stored page of each channel, for use while the server is unreachable.
 * @type {Map<string, StoredPage>}
 */
let recalled = new Map();
/** The conversations that stay loaded, most recently used last. @type {Map<string, Conversation>} */
const held = new Map();

/** @param {Conversation} conversation */
const isHeld = (conversation) => held.get(conversation.key) === conversation;

/** Return the conversation of a channel or thread, and load it if it is new. @param {string} key */
export function conversationOf(key) {
  const known = held.get(key);
  const { channelId, thread } = channelAndThreadOf(key);
  const conversation = known ?? new Conversation(channelId, thread);
  held.delete(key);
  held.set(key, conversation);
  if (held.size > MAX_HELD) held.delete([...held.keys()][0]);
  if (!known && connection.value === "online") conversation.newest();
  const cached = known ? null : recalled.get(key);
  if (cached && connection.value !== "online") conversation.recall(cached);
  return conversation;
}

listen({
  prefetch(request) {
    const channelId = expected();
    prefetched = channelId
      ? { key: conversationKeyOf(channelId), page: request("history", newestOf(channelId)) }
      : null;
    prefetched?.page.catch(() => {}); // If this request fails, the page is requested again.
  },
  onStoredScene({ pages }) {
    recalled = pages;
    for (const [channelId, conversation] of held)
      conversation.recall(/** @type {StoredPage} */ (pages.get(channelId)));
  },
  onGreeting({ unread, threads }) {
    recalled = new Map();
    // The loaded messages may be out of date. Reload the two most recently opened conversations, because a
    // thread or a call's chat can be open next to a channel. The others are reloaded when they are opened.
    const last = new Map([...held].slice(-2));
    if (prefetched && !last.has(prefetched.key)) last.set(prefetched.key, new Conversation(prefetched.key));
    held.clear();
    for (const [key, conversation] of last) {
      held.set(key, conversation);
      if (prefetched && key === prefetched.key) conversation.expect(prefetched.page);
      const { channelId, thread } = conversation;
      const counts = thread
        ? threads?.find((state) => state.thread === thread)
        : unread.find(({ channel_id: id }) => id === channelId);
      conversation.refresh(counts?.last);
    }
    prefetched = null;
  },
  onResumption() {
    for (const conversation of held.values()) if (!conversation.loaded.value) conversation.again();
  },
  onPush(...push) {
    const [event, data] = push;
    for (const [key, conversation] of held) {
      if (conversation.channelId !== /** @type {About} */ (data).channel_id) continue;
      conversation.hear(...push);
      if (event === "channel_deleted") held.delete(key);
    }
  },
  onSignOut() {
    recalled = new Map();
    held.clear();
  },
});
