// Renders the message list. It keeps its scroll position while messages are added and removed, separates
// days, loads more messages at both ends, and reports when the newest message is visible.

/**
 * @import { Channel, Message as Posted } from "../../types/api.js"
 * @import { Conversation } from "../../state/conversation.js"
 * @import { ComponentChildren, RefObject } from "../../vendor/preact.js"
 * @import { PermissionCheck } from "./message.js"
 * @import { Item } from "../../state/outbox.js"
 * @import { Unsent } from "./pending_message.js"
 *
 * `root` is shown above the first message of a thread.
 * @typedef {{channel: Channel, conversation: Conversation, empty: boolean, hasPermission: PermissionCheck,
 *   root?: ComponentChildren}} Props
 * @typedef {{atEnd: boolean, editing: string | null, marked: string | null, news: number}} State
 */

import { firstPaint, painted } from "../../state/first_paint.js";
import { notify } from "../../state/notices.js";
import { outbox } from "../../state/outbox.js";
import { showDialog } from "../../state/navigation.js";
import { isAtEnd, isNearEnd, isNearStart, ScrollAnchor } from "../../state/scroll_anchor.js";
import { connection, member } from "../../state/server.js";
import { pageVisible } from "../../state/page_activity.js";
import { readThread, threads, unreadInThreads } from "../../state/threads.js";
import { leftUnread, markedRead, read, seen, unread } from "../../state/unread_counts.js";
import { Component, createRef, html } from "../../vendor/preact.js";
import { effect } from "../../vendor/signals.js";
import { explain, t } from "../../words/words.js";
import { Button, IconButton } from "../parts/button.js";
import { Icon } from "../parts/icon.js";
import { Lazy } from "../parts/lazy_component.js";
import { dayAround, dayOf } from "../parts/time.js";
import { focusMessageField } from "../parts/focus.js";
import { moveAmongMessages, PastMessages } from "./keyboard_navigation.js";
import { Message } from "./message.js";
import { asMessage, Pending } from "./pending_message.js";

const ChannelStart = Lazy(() => import("./channel_start.js"), "ChannelStart", firstPaint);
const FirstSteps = Lazy(() => import("../sign_in/first_steps.js"), "FirstSteps", firstPaint);
const AT_FIRST = 20; // Render about one screen of messages first.
const REST_MS = 100; // Render the other messages after this delay.
const BUSY_MS = 250; // Messages that arrive faster do not fade in, because the fade would never end.
const TOGETHER_MS = 5 * 60_000; // One author's messages within this time share a heading.

/** @extends {Component<Props, State>} */
export class Timeline extends Component {
  /** @type {RefObject<HTMLElement>} */ box = createRef();
  /** @type {RefObject<HTMLElement>} */ list = createRef();
  /** @type {State} */
  state = { atEnd: true, editing: null, marked: null, news: 0 };

  #news = 0;
  #all = false;
  #frame = 0;
  #changed = false; // Whether the list has been rendered since the last frame.
  #position = new ScrollAnchor();
  /** @type {ResizeObserver | null} */ #observer = null;
  /** @type {{element: Element, bottom: number} | null} */ #anchor = null;
  /** @type {(() => void) | null} */ #stopReading = null;
  // The line above the first unread message stays in place after the message has been read.
  #newFrom = this.#unreadFrom();

  #unreadFrom() {
    const {
      channel,
      conversation: { thread },
    } = this.props;
    const counts = thread ? threads.peek().get(thread) : unread.peek()[channel.id];
    if (!counts?.unread) return null;
    // The number of new messages is shown until the first of them has been visible.
    if (!thread) this.#news = counts.unread;
    return counts.read_up_to;
  }

  /** Jump to the first unread message. Fetch it if it is not loaded. */
  async #toNews() {
    const { conversation } = this.props;
    const from = this.#newFrom ?? "";
    const message = conversation.messages.value.find(({ id }) => id > from);
    const reaches = !conversation.moreBefore.value || conversation.messages.value[0]?.id <= from;
    this.#dropNews();
    const id =
      message && reaches
        ? message.id
        : await conversation.behind(from).catch((error) => notify(explain(error)));
    if (id) this.reveal(id);
  }

  componentDidMount() {
    if (leftUnread.peek() === this.props.channel.id) leftUnread.value = null;
    // The height changes when the window is resized, the composer grows, or images load.
    this.#observer = new ResizeObserver(() => this.#settle());
    this.#observer.observe(this.box.current);
    this.#observer.observe(this.list.current);
    document.addEventListener("visibilitychange", this.#look);
    this.#stopReading = effect(() => {
      const { channel, conversation } = this.props;
      const counts = unread.value[channel.id];
      if (markedRead.value.includes(channel.id)) this.#dropNews();
      if (
        leftUnread.value === channel.id &&
        !conversation.thread &&
        counts?.unread &&
        counts.read_up_to !== this.#newFrom
      ) {
        this.#newFrom = counts.read_up_to;
        this.forceUpdate();
      }
      if (pageVisible.value || counts?.unread || unreadInThreads.value) this.#look();
    });
    this.#settle();
    painted();
    requestAnimationFrame(() =>
      setTimeout(() => {
        if (this.#all || !this.list.current) return;
        this.#all = true;
        this.forceUpdate();
      }, REST_MS),
    );
  }

  componentWillUnmount() {
    this.#observer?.disconnect();
    this.#stopReading?.();
    cancelAnimationFrame(this.#frame);
    document.removeEventListener("visibilitychange", this.#look);
    if (seen.peek() === this.props.channel.id) seen.value = null;
  }

  getSnapshotBeforeUpdate() {
    const isFollowing = this.#position.isFollowing && !this.props.conversation.moreAfter.value;
    this.#anchor = isFollowing ? null : this.#firstVisible();
    return null;
  }

  componentDidUpdate() {
    if (this.#anchor?.element.isConnected) {
      this.box.current.scrollTop += this.#anchor.element.getBoundingClientRect().bottom - this.#anchor.bottom;
    }
    // Scroll to the end at most once per frame, because scrolling forces a layout.
    this.#changed = true;
    this.#look();
  }

  /** Show the newest message. */
  async toEnd() {
    const { conversation } = this.props;
    if (conversation.moreAfter.value) await conversation.newest();
    this.#position.follow();
    this.#settle();
  }

  /** Scroll to a message and highlight it for a moment. @param {string} id */
  reveal(id) {
    this.#all = true;
    this.#position.isFollowing = false;
    this.setState({ marked: id }, () => {
      const element = this.#element(id);
      element?.scrollIntoView({ block: "center" });
      element?.focus({ preventScroll: true });
    });
  }

  /** Start editing the user's last message. */
  editLast() {
    const own = this.props.conversation.messages.value.findLast(
      ({ author: { kind, id } }) => kind === "member" && id === member.value?.id,
    );
    if (own) this.edit(own.id);
  }

  edit = (/** @type {string | null} */ id) =>
    this.setState({ editing: id }, () => {
      if (id === null) focusMessageField(this.props.conversation.key);
      else this.#element(id)?.scrollIntoView({ block: "nearest" });
    });

  /**
   * Pass the same function each time, because a new one would rerender every message whenever a message
   * arrives.
   * @type {PermissionCheck}
   */
  hasPermission = (permission) => this.props.hasPermission(permission);

  /** @param {Props} props @param {State} state */
  render({ channel, conversation, empty, root = null }, { atEnd, editing, marked, news }) {
    const { messages, moreBefore, moreAfter, olderProblem, newerProblem } = conversation;
    // The connection is read here so that a change to "online" rerenders this component. Its effect then
    // loads missed messages.
    const online = connection.value === "online";
    const shown = this.#all ? messages.value : messages.value.slice(-AT_FIRST);
    const waiting = moreAfter.value ? [] : outbox.value.filter(({ spot }) => spot === conversation.key);
    const latest = shown.at(-1)?.posted_at_ms ?? 0;
    const blank = empty && !waiting.length;
    return html`<div class="timeline">
      ${
        news > 0 &&
        html`<p class="news">
          <button type="button" onClick=${() => this.#toNews()}>
            <${Icon} name="up" /> ${t("news-count", { count: news })}
          </button>
          <${IconButton} icon="close" label=${t("close")} onClick=${this.#dropNews} />
        </p>`
      }
      <div
        id=${conversation.thread ? undefined : "messages-box"}
        class="messages-box"
        role="log"
        aria-label=${t("messages")}
        tabindex="0"
        ref=${this.box}
        onScroll=${this.#scrolled}
        onKeyDown=${moveAmongMessages}
      >
        <div
          id=${conversation.thread ? undefined : "messages"}
          class=${isBusy(shown) ? "messages busy" : "messages"}
          ref=${this.list}
        >
          ${root}
          ${blank && !root && member.value?.roles.includes("owner") && html`<${FirstSteps} />`}
          ${
            moreBefore.value &&
            (olderProblem.value
              ? html`<${Failed} problem=${olderProblem.value} again=${() => conversation.older(true)} />`
              : html`<p class="quiet older">${t(online ? "loading" : "offline-text")}</p>`)
          }
          ${
            !moreBefore.value &&
            !root &&
            html`<div id="beginning"><${ChannelStart} channel=${channel} empty=${blank} /></div>`
          }
          ${days([...shown, ...waiting.map((item) => asMessage(item, item.nonce, latest))]).map(
            ({ day, list }) => html`<section key=${day} role="group" aria-label=${day}>
              <h2 class="day">
                ${
                  conversation.thread
                    ? html`<span>${day}</span>`
                    : html`<button
                        type="button"
                        title=${t("jump-to-date")}
                        onClick=${() =>
                          showDialog("jump", { channelId: channel.id, atMs: list[0].message.posted_at_ms })}
                      >
                        ${day}
                      </button>`
                }
              </h2>
              <ol>${list.map(({ message, follows, previous }) =>
                "item" in message
                  ? html`<${Pending}
                      key=${message.id}
                      message=${message}
                      follows=${follows}
                      conversation=${conversation}
                    />`
                  : html`<${Message}
                      key=${message.id}
                      message=${message}
                      follows=${follows}
                      isNew=${
                        this.#newFrom !== null &&
                        message.id > this.#newFrom &&
                        (!previous || previous.id <= this.#newFrom)
                      }
                      replied=${message.reply_to}
                      conversation=${conversation}
                      editing=${editing === message.id}
                      marked=${marked === message.id}
                      hasPermission=${this.hasPermission}
                      onEdit=${this.edit}
                    />`,
              )}</ol>
            </section>`,
          )}
          ${
            moreAfter.value &&
            newerProblem.value &&
            html`<${Failed} problem=${newerProblem.value} again=${() => conversation.newer(true)} />`
          }
        </div>
      </div>
      <${PastMessages} />
      ${
        (!atEnd || moreAfter.value) &&
        html`<${Button} id="to-end" icon="down" onClick=${() => this.toEnd()}>${t("to-newest")}<//>`
      }
    </div>`;
  }

  /** @param {string} id */
  #element(id) {
    return this.list.current?.querySelector(`[data-id="${CSS.escape(id)}"]`);
  }

  /**
   * Return the first visible message, which is kept in place, and the position of its bottom. The top can
   * move, because the author line above the text can disappear.
   */
  #firstVisible() {
    const edge = this.box.current.getBoundingClientRect().top;
    for (const element of this.list.current.querySelectorAll(".message")) {
      const { bottom } = element.getBoundingClientRect();
      if (bottom > edge) return { element, bottom };
    }
    return null;
  }

  #dropNews = () => {
    this.#news = 0;
    this.setState({ news: 0 });
  };

  #seesNews() {
    const [line, box] = [
      this.list.current.querySelector(".new-line")?.getBoundingClientRect(),
      this.box.current.getBoundingClientRect(),
    ];
    return line !== undefined && line.bottom > box.top && line.top < box.bottom;
  }

  /** Whether the channel is empty. The list then stays at the top, which shows the channel's introduction. */
  get #blank() {
    return this.props.empty && !this.list.current?.querySelector(".pending");
  }

  #scrolled = () => {
    this.#position.scrolled(this.box.current, this.props.conversation.moreAfter.value);
    this.#look();
  };

  /** Stay at the end if the user was there, then update the state that depends on the visible messages. */
  #settle() {
    this.#follow();
    this.#look();
  }

  #follow() {
    const box = this.box.current;
    if (!box) return;
    this.#changed = false;
    this.#position.note(box);
    if (this.#position.isFollowing && !this.#blank) {
      box.scrollTop = box.scrollHeight;
      this.#position.put(box);
    }
  }

  #look = () => {
    cancelAnimationFrame(this.#frame);
    this.#frame = requestAnimationFrame(() => {
      if (this.#changed) this.#follow();
      const [box, { channel, conversation }] = [this.box.current, this.props];
      if (!box?.clientHeight) return;
      if (isNearStart(box) && this.#all) conversation.older();
      if (isNearEnd(box)) conversation.newer();
      const atEnd = this.#blank || isAtEnd(box);
      conversation.atEnd = atEnd;
      if (atEnd !== this.state.atEnd) this.setState({ atEnd });
      if (this.#news && this.#seesNews()) this.#news = 0;
      if (this.#news !== this.state.news) this.setState({ news: this.#news });
      const readsEnd =
        atEnd && pageVisible.value && !conversation.moreAfter.value && leftUnread.value !== channel.id;
      const last = conversation.messages.value.at(-1);
      if (conversation.thread) {
        if (readsEnd && last) readThread(conversation.thread, last.id);
        return;
      }
      if (readsEnd) seen.value = channel.id;
      else if (seen.peek() === channel.id) seen.value = null;
      if (readsEnd && last) read(channel.id, last.id);
    });
  };
}

/** @param {{problem: string, again: () => void}} props */
const Failed = ({ problem, again }) =>
  html`<p class="error older">${problem} <${Button} look="link" onClick=${again}>${t("try-again")}<//></p>`;

/** @param {Posted[]} messages */
const isBusy = (messages) =>
  messages.length > 1 &&
  messages[messages.length - 1].posted_at_ms - messages[messages.length - 2].posted_at_ms < BUSY_MS;

/**
 * Group messages by day, and mark each message that shares the heading of the message above it.
 * @param {(Posted | Unsent<Item>)[]} messages
 */
function days(messages) {
  /**
   * @type {{day: string, list: {message: Posted | Unsent<Item>, previous: Posted | Unsent<Item> | null,
   *   follows: boolean}[]}[]}
   */
  const groups = [];
  /** @type {Posted | Unsent<Item> | null} */
  let previous = null;
  let [begins, ends] = [0, 0]; // The start and end of the day, cached because this loop is a hot path.
  for (const message of messages) {
    const at = message.posted_at_ms;
    const newDay = at < begins || at >= ends;
    if (newDay) {
      groups.push({ day: dayOf(at), list: [] });
      [begins, ends] = dayAround(at);
    }
    groups.at(-1)?.list.push({
      message,
      previous,
      follows: !newDay && previous !== null && together(previous, message),
    });
    previous = message;
  }
  return groups;
}

/** @param {Posted | Unsent<Item>} previous @param {Posted | Unsent<Item>} message */
function together(previous, message) {
  // A webhook can use a different name in each message.
  const name = (/** @type {Posted | Unsent<Item>} */ { author }) =>
    author.kind === "member" ? author.id : `${author.id} ${author.display_name} ${author.avatar}`;
  return (
    name(previous) === name(message) &&
    message.posted_at_ms - previous.posted_at_ms < TOGETHER_MS &&
    message.reply_to === null
  );
}
