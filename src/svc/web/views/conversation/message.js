// Renders a message: its author and time, the message that it replies to, its text, files and cards, its
// reactions, and the actions on it. A message is rerendered only when it changes.

import { open, openConversation, openSidePanel, showDialog } from "../../state/navigation.js";
import { blocked, colouredRole, colourOf, memberOf, nameNow, pictureNow } from "../../state/people.js";
import { answered } from "../../state/replied_messages.js";
import { member } from "../../state/server.js";
import { threads } from "../../state/threads.js";
import { html, memo, useComputed, useState } from "../../vendor/preact.js";
import { Attachments } from "./attachments.js";
import { Card, Previews } from "./card.js";
import { Reactions } from "./reactions.js";
import { Markdown, plain } from "../message_text.js";
import { Avatar, BotSign, hue } from "../parts/avatar.js";
import { Button } from "../parts/button.js";
import { Icon } from "../parts/icon.js";
import { Lazy } from "../parts/lazy_component.js";
import { Time } from "../parts/time.js";
import { usePersonMenu } from "../people/person_menu_trigger.js";
import { t } from "../../words/words.js";

/**
 * @import { Message as Posted } from "../../types/api.js"
 * @import { Permission } from "../../types/wire.js"
 * @import { Ref } from "../../state/private/content.js"
 * @import { EncryptedFile } from "../../state/private/file_encryption.js"
 * @import { Noted } from "../../state/private_conversations.js"
 * @import { Attached } from "./attachments.js"
 *
 * A message in a private conversation, as built by views/private/message_adapter.js.
 * @typedef {Omit<Posted, "channel_id" | "attachments" | "answers" | "fallback" | "flagged"> & {channel_id:
 *   null, conversation_id: string, ref: Ref, seq: number, trouble: string,
 *   attachments: (Attached & {encrypted: EncryptedFile})[], answers?: undefined, fallback?: undefined}}
 *   PrivateMessage
 * @typedef {(Posted & {conversation_id?: undefined}) | PrivateMessage} Shown
 * The conversation that contains the message.
 * @typedef {{channelId: string, conversationId?: undefined, thread: string | null, messages: {readonly value:
 *   Posted[]}}
 *   | {channelId?: undefined, conversationId: string, thread: null, messages: {readonly value:
 *   (PrivateMessage | Noted)[]}}} Held
 * @typedef {(permission: Permission) => boolean} PermissionCheck
 *
 * `replied` is the id of the message being replied to. A `bare` message has no actions.
 * @typedef {{message: Shown, follows: boolean, isNew?: boolean, replied: string | null, bare?: boolean,
 *   conversation: Held, editing?: boolean, marked?: boolean, hasPermission: PermissionCheck,
 *   onEdit: (id: string | null) => void}} Props
 */

const MAX_QUOTED = 160;
/**
 * Functions that remove the buttons of the messages last reached by the pointer and by the focus.
 * @type {{pointer?: () => void, focus?: () => void}}
 */
const drawn = {};
const Actions = Lazy(() => import("./message_actions.js"), "Actions");
const Editor = Lazy(() => import("./message_editor.js"), "Editor");
const SealedFiles = Lazy(() => import("../private/encrypted_files.js"), "SealedFiles");

export const Message = memo(
  (
    /** @type {Props} */ {
      message,
      follows,
      isNew,
      replied,
      bare,
      conversation,
      editing,
      marked,
      hasPermission,
      onEdit,
    },
  ) => {
    const own = member.value?.id ?? "";
    const { author, reactions, mentions, mention_groups: groups } = message;
    const [shown, show] = useState(false); // Whether a message from a blocked member has been revealed.
    const hidden = blocked.value.has(author.id) && !shown;
    const isMentioned =
      mentions.includes(own) ||
      (groups ?? []).some((group) => ["everyone", "here", ...(member.value?.roles ?? [])].includes(group));
    const [askAbout, personMenu] = usePersonMenu();
    const [near, approach] = useNearness();
    // The action to take once the buttons are rendered: open the menu at this event, or focus the menu
    // button.
    const [call, setCall] = useState(/** @type {MouseEvent | "focus" | null} */ (null));
    const openMenu = (/** @type {MouseEvent} */ event) => {
      event.preventDefault();
      event.stopPropagation();
      approach("focus");
      setCall(event);
    };
    const openActions = (/** @type {EventOn<HTMLElement, MouseEvent>} */ event) => {
      const person = author.kind === "member" && event.target.closest(".author, .avatar-place");
      if (person)
        askAbout(
          event,
          { id: author.id, name: nameNow(author) },
          event.target.closest("button") ?? event.currentTarget,
        );
      // Keep the browser's context menu on elements for which it is more useful.
      else if (
        !bare &&
        !editing &&
        !event.target.closest("a, img, video, audio, input, textarea, .menu") &&
        getSelection()?.isCollapsed !== false
      )
        openMenu(event);
    };
    const look = [
      "message",
      own === author.id && "own",
      follows && "follows",
      isMentioned && !hidden && "mentions-me",
      marked && "marked",
    ]
      .filter(Boolean)
      .join(" ");
    return html`<li
      class=${look}
      data-id=${message.id}
      data-author=${author.id}
      tabindex="-1"
      onContextMenu=${openActions}
      onPointerMove=${() => approach("pointer")}
      onFocusIn=${() => approach("focus")}
    >
      ${isNew && html`<p class="new-line"><span>${t("new-messages")}</span></p>`}
      ${!follows && html`<${AuthorAvatar} author=${author} />`}
      <div class="body">
        <${Byline} message=${message} follows=${follows} />
        ${replied !== null && html`<${Replied} id=${replied} conversation=${conversation} />`}
        ${
          hidden &&
          html`<p class="quiet">
            ${t("blocked-message")} <${Button} look="link" onClick=${() => show(true)}>${t("show")}<//>
          </p>`
        }
        ${
          !hidden &&
          (editing
            ? html`<${Editor} message=${message} onDone=${() => onEdit(null)} />`
            : html`<${Text} message=${message} />`)
        }
        <${Marks} message=${message} />
        ${
          !hidden &&
          (message.conversation_id !== undefined
            ? message.attachments.length > 0 && html`<${SealedFiles} message=${message} />`
            : html`<${Attachments} files=${message.attachments} channelId=${message.channel_id} />`)
        }
        ${!hidden && message.cards.map((card, index) => html`<${Card} key=${index} card=${card} />`)}
        ${!hidden && message.previews?.length > 0 && html`<${Previews} previews=${message.previews} />`}
        <${Reactions}
          message=${message}
          reactions=${reactions}
          conversation=${conversation}
          canReact=${hasPermission("add_reactions")}
        />
        ${
          message.answers &&
          !conversation.thread &&
          html`<${Answers} message=${message} answers=${message.answers} />`
        }
      </div>
      ${
        !editing &&
        !bare &&
        (near
          ? html`<${Actions}
              message=${message}
              conversation=${conversation}
              hasPermission=${hasPermission}
              call=${call}
              onCalled=${() => setCall(null)}
              onEdit=${() => onEdit(message.id)}
            />`
          : html`<button
              type="button"
              class="unseen"
              aria-haspopup="menu"
              aria-label=${t("more")}
              onFocus=${() => setCall("focus")}
              onClick=${openMenu}
            ></button>`)
      }
      ${personMenu}
    </li>`;
  },
);

/**
 * Return a pair: whether the pointer or the focus reached this message last, and a function that reports that
 * it was reached. Only such a message has buttons, because buttons on every message would make up most of the
 * page's elements. They remain until the pointer or the focus reaches another message, so that the focus can
 * return to them from a menu or dialog. A message that scrolls under a resting pointer does not count.
 * Otherwise, every message in a busy channel would render buttons.
 * @returns {[near: boolean, approach: (by: "pointer" | "focus") => void]}
 */
function useNearness() {
  const [by, setBy] = useState({ pointer: false, focus: false });
  const approach = (/** @type {"pointer" | "focus"} */ kind) => {
    if (by[kind]) return;
    drawn[kind]?.();
    drawn[kind] = () => setBy((held) => ({ ...held, [kind]: false }));
    setBy((held) => ({ ...held, [kind]: true }));
  };
  return [by.pointer || by.focus, approach];
}

/** @param {Pick<Shown, "author">} props */
export function AuthorAvatar({ author }) {
  const isMember = author.kind === "member";
  const [name, url] = [useComputed(() => nameNow(author)).value, useComputed(() => pictureNow(author)).value];
  const picture = html`<${Avatar} id=${author.id} name=${name} url=${url} />`;
  return isMember
    ? html`<span class="avatar-place" onClick=${() => showDialog("profile", { memberId: author.id })}>
        ${picture}
      </span>`
    : html`<span class="avatar-place">${picture}</span>`;
}

/** @param {{message: Pick<Shown, "author" | "posted_at_ms">, follows: boolean}} props */
export function Byline({ message, follows }) {
  const { author, posted_at_ms: postedAt } = message;
  const isMember = author.kind === "member";
  const colour = useComputed(() => colourOf(isMember ? colouredRole(memberOf(author.id)) : null)).value;
  const name = useComputed(() => nameNow(author)).value;
  const look = colour ? { "--role": colour } : { "--hue": hue(author.id) };
  const kind = `author ${colour ? "coloured" : ""}`;
  return html`<p class="byline">
    ${
      follows
        ? null
        : isMember
          ? html`<button
            type="button"
            class=${kind}
            style=${look}
            dir="auto"
            onClick=${() => showDialog("profile", { memberId: author.id })}
          >
            ${name}
          </button>`
          : html`<strong class=${kind} style=${look} dir="auto">${name}</strong>`
    }
    ${!follows && html`<${BotSign} bot=${author.bot} />`}
    <${Time} ms=${postedAt} />
    ${!isMember && !follows && html`<span class="mark">${t("mark-webhook")}</span>`}
  </p>`;
}

/** The "edited" and "pinned" labels, below the text that they apply to. @param {{message: Shown}} props */
function Marks({ message: { edited_at_ms: editedAt, pinned } }) {
  return editedAt || pinned
    ? html`<p class="marks">
        ${editedAt && html`<span class="mark">${t("mark-edited")}</span>`}
        ${pinned && html`<span class="mark">${t("mark-pinned")}</span>`}
      </p>`
    : null;
}

/** @param {{message: Shown}} props */
function Text({ message }) {
  return message.text
    ? html`<div class="text" dir="auto"><${Markdown} text=${message.text} message=${message} /></div>`
    : null;
}

/**
 * One line of the message that a reply refers to. It links to the message.
 * @param {{id: string, conversation: Held}} props
 */
export function Replied({ id, conversation }) {
  const { channelId, conversationId, thread, messages } = conversation;
  const replied = useComputed(() => {
    const held = messages.value.find((message) => message.id === id);
    return held && "author" in held ? held : conversationId === undefined ? answered(channelId, id) : null;
  }).value;
  const go = () =>
    conversationId !== undefined
      ? openConversation(conversationId, id)
      : thread
        ? openSidePanel("thread", { channelId, thread, messageId: id })
        : open(channelId, id);
  return html`<button type="button" class="replied" onClick=${go} title=${t("go-to-message")}>
    <${Icon} name="reply" />
    ${
      replied
        ? html`
            <b dir="auto">${nameNow(replied.author)}</b> <span dir="auto">
              ${blocked.value.has(replied.author.id) ? t("blocked-message") : quoted(replied)}
            </span>
          `
        : html`<span>${t("earlier-message")}</span>`
    }
  </button>`;
}

/** @typedef {{text: string, fallback?: string | null, attachments: unknown[]}} Quotable */

/** Summarise a message in a few words. @param {Quotable} message */
export function quoted(message) {
  const text =
    plain(message.text) ||
    message.fallback ||
    (message.attachments.length ? t("file-count", { count: message.attachments.length }) : "");
  return text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED)}…` : text;
}

/** @param {{message: Pick<Posted, "id" | "channel_id">, answers: NonNullable<Posted["answers"]>}} props */
export function Answers({ message: { id, channel_id: channelId }, answers }) {
  const unread = threads.value.get(id)?.unread ?? 0;
  return html`<button
    type="button"
    class=${`answers ${unread ? "unread" : ""}`}
    onClick=${() => openSidePanel("thread", { channelId, thread: id })}
  >
    <${Icon} name="thread" />
    <span>${t("answers", { count: answers.count })}</span>
    ${unread > 0 && html`<span class="badge">${t("unread-count", { count: unread })}</span>`}
    <span class="quiet"><${Time} ms=${answers.last_at_ms} style="ago" /></span>
  </button>`;
}
