// Lists the messages in a private conversation by day, followed by the user's unsent messages.

/** @import { Noted, PrivateConversation, Unsent as Item } from "../../state/private_conversations.js" */
/** @import { Permission } from "../../types/wire.js" */
/** @import { RefObject } from "../../vendor/preact.js" */
/** @import { ReadonlySignal } from "../../vendor/signals.js" */
/** @import { Unsent } from "../conversation/pending_message.js" */
/** @import { PrivateMessage } from "./message_adapter.js" */

import { target } from "../../state/navigation.js";
import { memberOf } from "../../state/people.js";
import { privateClient } from "../../state/private_client.js";
import { unsent } from "../../state/private_conversations.js";
import { member } from "../../state/server.js";
import { pageVisible } from "../../state/page_activity.js";
import { html, useEffect, useLayoutEffect, useRef, useState } from "../../vendor/preact.js";
import { moveAmongMessages, PastMessages } from "../conversation/keyboard_navigation.js";
import { Message } from "../conversation/message.js";
import { asMessage, PendingLine } from "../conversation/pending_message.js";
import { Button } from "../parts/button.js";
import { Icon } from "../parts/icon.js";
import { dayOf, sameDay } from "../parts/time.js";
import { Beginning } from "./history_start.js";
import { t } from "../../words/words.js";

/**
 * @typedef {Unsent<Item> & {note?: undefined}} Waiting
 * @typedef {PrivateMessage | Noted} Entry
 * @typedef {{conversationId: string, thread: null, messages: ReadonlySignal<Entry[]>}} History
 */

const AT_ONCE = 100; // The number of messages rendered initially. More are rendered on request.
const AT_END_PX = 24;
const TOGETHER_MS = 5 * 60_000; // As in channels (views/conversation/timeline.js).
const MARKED_MS = 2400; // As in style/conversation.css.

/**
 * `history` contains the messages. `editing` is the id of the message being edited.
 * @param {{conversation: PrivateConversation, history: History, hasPermission: (permission: Permission) =>
 *   boolean, editing: string | null, onEdit: (id: string | null) => void}} props
 */
export function ConversationHistory({ conversation, history, hasPermission, editing, onEdit }) {
  const [marked, setMarked] = useState(/** @type {string | null} */ (null));
  const [limit, setLimit] = useState(AT_ONCE);
  /** @type {RefObject<HTMLElement>} */
  const box = useRef(null);
  const following = useRef(true);
  const put = useRef(0); // The position of the end when the list was last scrolled there.
  const waiting = unsent.value.get(conversation.id) ?? [];
  const messages = history.messages.value;
  const shown = messages.slice(-limit);
  const last = messages.at(-1);
  const all = [...shown, ...waiting.map((item) => asMessage(item, item.key, last?.posted_at_ms ?? 0))];
  const wanted = target.value?.conversationId === conversation.id ? target.value : null;
  const settle = () => {
    if (!following.current || !box.current) return;
    box.current.scrollTop = box.current.scrollHeight;
    put.current = box.current.scrollTop;
  };
  useLayoutEffect(settle, [last?.id, waiting.length]);
  useLayoutEffect(() => {
    const observer = new ResizeObserver(settle);
    observer.observe(box.current);
    observer.observe(/** @type {Element} */ (box.current.firstElementChild));
    return () => observer.disconnect();
  }, []);
  useLayoutEffect(() => {
    const at = wanted ? messages.findIndex(({ id }) => id === wanted.messageId) : -1;
    if (!wanted || at < 0) return;
    following.current = false;
    if (messages.length - at > limit) setLimit(messages.length - at + AT_ONCE);
    else {
      target.value = null;
      setMarked(messages[at].id);
      const element = [...box.current.querySelectorAll(".message")].find(
        ({ dataset }) => dataset.id === wanted.messageId,
      );
      element?.scrollIntoView({ block: "center" });
      element?.focus({ preventScroll: true });
    }
  }, [wanted, messages.length, limit]);
  useEffect(() => {
    const timer = setTimeout(() => setMarked(null), MARKED_MS);
    return () => clearTimeout(timer);
  }, [marked]);
  useEffect(() => {
    if (pageVisible.value && conversation.unread)
      privateClient().then((client) => client.markRead(conversation.id));
  }, [pageVisible.value, conversation.unread]);
  const scrolled = (/** @type {EventOn} */ { currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
    const atEnd = scrollHeight - scrollTop - clientHeight < AT_END_PX;
    if (atEnd) put.current = scrollTop;
    // If the content has grown since the last scroll to the end, stay at the end.
    following.current = atEnd || (following.current && scrollTop >= put.current - AT_END_PX);
  };
  const older = () => {
    following.current = false;
    setLimit(limit + AT_ONCE);
  };
  return html`<div class="timeline">
    <div
      id="private-box"
      class="messages-box"
      role="log"
      aria-label=${t("messages")}
      tabindex="0"
      ref=${box}
      onScroll=${scrolled}
      onKeyDown=${moveAmongMessages}
    >
      <div class="messages">
        ${
          messages.length > shown.length
            ? html`<p class="older"><${Button} onClick=${older}>${t("private-older")}<//></p>`
            : html`<${Beginning} conversation=${conversation} />`
        }
        ${days(all).map(
          ({ day, list }) => html`<section key=${day} role="group" aria-label=${day}>
            <h2 class="day"><span>${day}</span></h2>
            <ol>${list.map(({ message, follows }) =>
              message.note
                ? html`<${Note} key=${message.id} note=${message.note} />`
                : "item" in message
                  ? html`<${Pending}
                      key=${message.id}
                      message=${message}
                      follows=${follows}
                      conversation=${history}
                    />`
                  : html`<${Message}
                      key=${message.id}
                      message=${message}
                      follows=${follows}
                      isNew=${false}
                      replied=${message.reply_to}
                      bare=${Boolean(message.trouble)}
                      conversation=${history}
                      editing=${editing === message.id}
                      marked=${marked === message.id}
                      hasPermission=${hasPermission}
                      onEdit=${onEdit}
                    />`,
            )}</ol>
          </section>`,
        )}
      </div>
    </div>
    <${PastMessages} />
  </div>`;
}

/** @param {(Entry | Waiting)[]} messages */
function days(messages) {
  /** @type {{day: string, list: {message: Entry | Waiting, follows: boolean}[]}[]} */
  const groups = [];
  /** @type {Entry | Waiting | null} */
  let previous = null;
  for (const message of messages) {
    const newDay = !previous || !sameDay(previous.posted_at_ms, message.posted_at_ms);
    if (newDay) groups.push({ day: dayOf(message.posted_at_ms), list: [] });
    const follows = !newDay && previous !== null && together(previous, message);
    groups[groups.length - 1].list.push({ message, follows });
    previous = message;
  }
  return groups;
}

/** @param {Entry | Waiting} previous @param {Entry | Waiting} message */
function together(previous, message) {
  return (
    !message.note &&
    !previous.note &&
    previous.author.id === message.author.id &&
    message.posted_at_ms - previous.posted_at_ms < TOGETHER_MS &&
    message.reply_to === null
  );
}

/** @param {{message: Waiting, follows: boolean, conversation: History}} props */
function Pending({ message, follows, conversation }) {
  const { key, text, files, state, problem } = message.item;
  const act = (/** @type {"discard" | "sendAgain"} */ name) =>
    privateClient().then((client) => client[name](conversation.conversationId, key));
  return html`<${PendingLine} ...${{ message, follows, conversation, state, text }} files=${files.length}>
    ${
      state === "waiting" &&
      html`<p class="quiet">
        ${t("private-waiting")} <${Button} look="link" onClick=${() => act("discard")}>${t("delete")}<//>
      </p>`
    }
    ${
      state === "refused" &&
      html`<p class="error" role="alert">
        ${t("not-sent", { reason: problem })} <${Button} look="link" onClick=${() => act("sendAgain")}>
          ${t("try-again")}
        <//> <${Button} look="link" onClick=${() => act("discard")}>${t("delete")}<//>
      </p>`
    }
  <//>`;
}

const WARNINGS = ["new-device", "own-device", "differs", "foreign", "forked"];

/** @param {string} [memberId] */
const nameOf = (memberId) => (memberId && memberOf(memberId)?.nickname) || t("somebody");

/** @param {{note: Noted["note"]}} props */
export function Note({ note }) {
  return html`<li class="private-notes">${note.map(({ what, memberId, by }) => {
    const kind = what === "new-device" && memberId === member.value?.id ? "own-device" : what;
    const warns = WARNINGS.includes(kind);
    return html`<p key=${`${what} ${memberId}`} class=${warns ? "warning" : ""}>
      <${Icon} name=${warns ? "flag" : "people"} />
      <span dir="auto">${t(`private-${kind}`, { name: nameOf(memberId), by: nameOf(by) })}</span>
    </p>`;
  })}</li>`;
}
