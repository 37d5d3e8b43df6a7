// The text channels: what the server tells of them goes to the messages that we hold, the counts and the
// views, and what a person does there goes to the server. Knows nothing of calls.

import { get } from "../api.js";
import { Composer } from "./composer.js";
import { Conversation } from "./conversation.js";
import { Timeline } from "./timeline.js";
import { Typing } from "./typing.js";
import { hearOfUnread, unreadOf } from "./unread.js";

const byId = (id) => document.getElementById(id);

/** Events: "change", after what `counts` says may have changed. */
export class TextChannels extends EventTarget {
  /** The channel that is open, or null. */
  channel = null;

  #ask; #token; #known = nothing(); #context = null; #unread = {}; #conversation = null; #reading = null;
  #names = new Map(); #timeline; #composer; #typing;

  /** `ask(event, data)` resolves with the live socket's reply, `token()` with an access token. */
  constructor({ ask, token }) {
    super();
    this.#ask = ask;
    this.#token = token;
    const which = ({ channel_id, id }) => ({ channel_id, message_id: id });
    this.#timeline = new Timeline(byId("messages-box"), byId("messages"), {
      edit: (message, text) => ask("message_edit", { ...which(message), text }),
      remove: (message) => this.#try(ask("message_delete", which(message))),
      react: (message, emoji, added) => this.#try(ask(added ? "reaction_add" : "reaction_remove", { ...which(message), emoji })),
      pin: (message, pinned) => this.#try(ask(pinned ? "pin_add" : "pin_remove", which(message))),
      edited: () => this.#composer.focus(),
      mention: ({ author }) => this.#composer.insert(mentionOf(author)),
    });
    this.#composer = new Composer({
      send: (channelId, draft) => ask("message_send", { channel_id: channelId, ...draft }),
      typing: (channelId) => ask("typing", { channel_id: channelId }).catch(() => {}),
      editLast: () => this.#editLast(),
      token,
    });
    this.#typing = new Typing(byId("typing"), (memberId) => this.#name(memberId));
    this.#wire();
  }

  /** What is unread in a channel, {unread, mentions}; nothing in the one whose newest message is on the screen. */
  counts(channelId) {
    const seen = channelId === this.channel?.id && this.#sees;
    return (!seen && this.#unread[channelId]) || { unread: 0, mentions: 0 };
  }

  /** The server has told everything: what we held may be out of date. */
  greet({ member, permissions, blocked, online, emoji, unread }) {
    this.#know({ ownId: member.id, permissions, blocked: new Set(blocked), emoji: byName(emoji) });
    this.#unread = unreadOf(unread);
    this.#back(online);
    if (this.channel) this.#load();
  }

  /** We are back, and are about to be told what we missed. */
  resume({ online }) {
    this.#back(online);
    if (this.channel && !this.#conversation.loaded) this.#load();
  }

  /** The connection is lost, for the time being. */
  lose() {
    byId("text-state").textContent = "Reconnecting…";
  }

  /** The connection is lost for good. */
  stop(reason) {
    byId("text-state").textContent = "Offline";
    this.#notify(reason);
  }

  /** We are nobody here any more. */
  forget() {
    this.close();
    this.#composer.forget();
    this.#unread = {};
    this.#know(nothing());
  }

  receive(event, data) {
    const { ownId, blocked } = this.#known;
    if (hearOfUnread(this.#unread, event, data, { ownId, blocked })) this.#changed();
    this.#composer.hear(event, data);
    if (this.channel && data.channel_id === this.channel.id) this.#hearOpen(event, data);
    this.#hearOfMembers(event, data);
  }

  open(channel) {
    const other = channel.id !== this.channel?.id;
    this.channel = channel;
    byId("text").hidden = false;
    byId("text-name").textContent = channel.name;
    byId("topic").textContent = channel.topic;
    this.#composer.open(channel);
    this.#allow();
    if (other) {
      this.#typing.clear();
      this.#notify("");
      this.#timeline.clear();
      this.#converse(new Conversation(channel.id, this.#ask));
      this.#load();
    }
    // On a phone this would put a keyboard over what somebody came to read.
    if (matchMedia("(pointer: fine)").matches) this.#composer.focus();
    else byId("text-name").focus();
  }

  /** The channel is called otherwise, or its topic is another. */
  rename(channel) {
    this.channel = channel;
    byId("text-name").textContent = channel.name;
    byId("topic").textContent = channel.topic;
  }

  close() {
    byId("text").hidden = true;
    this.channel = this.#conversation = null;
    this.#typing.clear();
    this.#timeline.clear();
  }

  #wire() {
    this.#timeline.addEventListener("older", () => this.#fetch("older"));
    this.#timeline.addEventListener("newer", () => this.#fetch("newer"));
    this.#timeline.addEventListener("seen", () => this.#seen());
    document.addEventListener("visibilitychange", () => this.#seen());
    byId("to-end").addEventListener("click", () => {
      this.#timeline.toEnd();
      if (this.#conversation.moreAfter) this.#load();
    });
    byId("text-notice-close").addEventListener("click", () => this.#notify(""));
  }

  #converse(conversation) {
    this.#conversation = conversation;
    conversation.addEventListener("change", () => {
      if (conversation === this.#conversation) this.#render();
    });
  }

  #load() {
    return this.#fetch("newest");
  }

  /** "newest", "older" or "newer". What fails because the connection is lost is asked for again when we are back. */
  async #fetch(what) {
    const conversation = this.#conversation;
    if (!conversation || (what !== "newest" && !conversation.loaded)) return;
    try {
      await conversation[what]();
    } catch (error) {
      if (error.code && conversation === this.#conversation) this.#notify(error.message);
    }
  }

  #render() {
    const { messages, moreBefore, moreAfter, loaded } = this.#conversation;
    this.#timeline.render(messages, this.#context, moreAfter);
    this.#timeline.showOnline(this.#known.online);
    byId("beginning").hidden = !loaded || moreBefore;
  }

  #hearOpen(event, data) {
    this.#conversation.hear(event, data);
    if (event === "typing") this.#typing.heard(data.member_id);
    if (event === "message_posted") this.#typing.stopped(data.author.id);
  }

  #hearOfMembers(event, data) {
    const { blocked, online, emoji } = this.#known;
    switch (event) {
      case "presence":
        if (data.online) online.add(data.member_id);
        else online.delete(data.member_id);
        this.#timeline.showOnline(online);
        break;
      case "member_blocked":
        this.#know({ blocked: new Set([...blocked, data.member_id]) });
        break;
      case "member_unblocked":
        this.#know({ blocked: new Set([...blocked].filter((id) => id !== data.member_id)) });
        break;
      case "member_updated":
        this.#names.delete(data.id);
        break;
      case "emoji_created":
      case "emoji_updated":
      case "emoji_deleted": {
        const others = [...emoji.values()].filter(({ id }) => id !== (data.id ?? data.emoji_id));
        this.#know({ emoji: byName(data.id ? [...others, data] : others) });
        break;
      }
      case "permissions_changed":
        this.#askPermissions();
        break;
      default:
    }
  }

  async #askPermissions() {
    // Without an answer the server goes on refusing what is not allowed any more.
    await this.#token().then((token) => get("/api/me/permissions", token)).then((permissions) => this.#know({ permissions }), () => {});
  }

  /** Know something else of ourselves and of the server, and show it. */
  #know(changes) {
    Object.assign(this.#known, changes);
    const { ownId, blocked, emoji } = this.#known;
    this.#context = { ownId, blocked, emoji, may: (permission) => this.#may(permission) };
    if (!this.channel) return;
    this.#allow();
    this.#render();
  }

  #may(permission) {
    return (this.#known.permissions.channels[this.channel?.id] ?? []).includes(permission);
  }

  #allow() {
    this.#composer.allow({ send: this.#may("send_messages"), attach: this.#may("attach_files") });
  }

  #back(online) {
    this.#known.online = new Set(online);
    this.#timeline.showOnline(this.#known.online);
    byId("text-state").textContent = "";
    this.#reading = null;
    this.#composer.askAgain();
    this.#changed();
  }

  /** Is the newest message of the open channel on the screen? */
  get #sees() {
    return !document.hidden && this.#timeline.atEnd && this.#conversation?.loaded && !this.#conversation.moreAfter;
  }

  #seen() {
    if (!this.#conversation) return;
    this.#conversation.atEnd = this.#timeline.atEnd;
    byId("to-end").hidden = this.#timeline.atEnd && !this.#conversation.moreAfter;
    const last = this.#conversation.messages.at(-1);
    const { unread, mentions } = this.#unread[this.channel.id] ?? {};
    if (!this.#sees || !last || !(unread || mentions) || this.#reading === last.id) return;
    this.#reading = last.id;
    this.#ask("read", { channel_id: this.channel.id, message_id: last.id }).catch(() => { this.#reading = null; });
    this.#changed();
  }

  #editLast() {
    const own = this.#conversation.messages.findLast(({ author }) => author.kind === "member" && author.id === this.#known.ownId);
    if (own) this.#timeline.edit(own.id);
  }

  async #name(memberId) {
    const author = this.#conversation?.messages.findLast((message) => message.author.id === memberId)?.author;
    if (author) return author.display_name;
    if (!this.#names.has(memberId)) {
      const { nickname } = await get(`/api/members/${encodeURIComponent(memberId)}`, await this.#token());
      this.#names.set(memberId, nickname);
    }
    return this.#names.get(memberId);
  }

  async #try(request) {
    await request.catch((error) => this.#notify(error.message));
  }

  #notify(message) {
    byId("text-notice").hidden = !message;
    byId("text-notice-text").textContent = message;
  }

  #changed() {
    this.dispatchEvent(new Event("change"));
  }
}

/** What somebody knows who is nobody here. */
const nothing = () => ({ ownId: null, permissions: { server: [], channels: {} }, blocked: new Set(), online: new Set(), emoji: new Map() });

const byName = (emoji) => new Map(emoji.map((each) => [each.name, each]));

/** The signs of markdown in a name are part of the name. */
function mentionOf({ id, display_name: name }) {
  return `[${name.replace(/[\\[\]*_~`]/gu, "\\$&")}](mention:${id}) `;
}
