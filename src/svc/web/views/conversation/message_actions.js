// Renders the actions on a message: buttons for the common ones, and a menu with the others. Loaded once the
// first messages are shown, and rendered only for the messages that the pointer and the focus reached last.

/** @import { Item, ItemList } from "../parts/menu.js" */
/** @import { Held, PermissionCheck, Shown } from "./message.js" */
/** @import { RefObject } from "../../vendor/preact.js" */

import { hasPermission as mayOnServer, conversationKeyOf } from "../../state/channels.js";
import { acts } from "../../state/message_actions.js";
import { draftOf } from "../../state/drafts.js";
import { notify, tryOrNotify } from "../../state/notices.js";
import { block, blocked, nameNow, unblock } from "../../state/people.js";
import { addressOf, openSidePanel, showDialog } from "../../state/navigation.js";
import { writeTo } from "../../state/private_client.js";
import { answering, mayWriteTo } from "../../state/private_conversations.js";
import { member } from "../../state/server.js";
import { forward } from "../installation/share.js";
import { shortened } from "../../state/mention_text.js";
import { markUnread } from "../../state/unread_counts.js";
import { html, useComputed, useEffect, useLayoutEffect, useRef, useState } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { focusMessageField } from "../parts/focus.js";
import { IconButton } from "../parts/button.js";
import { Icon } from "../parts/icon.js";
import { HANDHELD, hasSheets, MenuButton, openWhere } from "../parts/menu.js";
import { Picker, quickOf } from "./reaction_picker.js";
import { Sign } from "./reactions.js";

const SHEET_EMOJI = 5; // The number of emoji in the first row of the menu.

/**
 * Select a message's text. On a phone, a long press opens the menu and cannot select text.
 * @param {RefObject<HTMLElement>} lane
 */
function select(lane) {
  const text = lane.current.closest(".message")?.querySelector(".text");
  text?.classList.add("selectable");
  if (text) getSelection()?.selectAllChildren(text);
}

/**
 * `call` is an event whose position is used to open the menu, or "focus", which focuses the menu button.
 * @param {{message: Shown, conversation: Held, hasPermission: PermissionCheck, onCalled: () => void, onEdit:
 *   () => void, call: MouseEvent | "focus" | null}} props
 */
export function Actions({ message, conversation, hasPermission, call, onCalled, onEdit }) {
  const [picking, setPicking] = useState(false);
  const [menu, setMenu] = useState(false);
  // Whether the bottom sheet replaces the buttons. This lasts until the message is touched.
  const [replaced, setReplaced] = useState(false);
  /** @type {RefObject<HTMLElement>} */
  const lane = useRef(null);
  useLayoutEffect(() => {
    const button = /** @type {HTMLElement} */ (lane.current.querySelector(".menu-holder > button"));
    if (!call) return;
    onCalled();
    if (call === "focus") button.focus();
    else {
      setReplaced(hasSheets());
      openWhere(call, button);
    }
  }, [call]);
  useEffect(() => {
    if (!replaced) return undefined;
    const around = lane.current.parentElement;
    const touched = (/** @type {Event} */ { target }) => {
      if (!(/** @type {Element} */ (target).closest(".menu"))) setReplaced(false);
    };
    around?.addEventListener("pointerdown", touched);
    return () => around?.removeEventListener("pointerdown", touched);
  }, [replaced]);
  const { author, pinned, id } = message;
  const name = useComputed(() => nameNow(author)).value;
  const posted = message.conversation_id === undefined ? message : null; // Null in private conversations.
  const own = author.kind === "member" && author.id === member.value?.id;
  const mayRemove = own || hasPermission("manage_messages");
  const other = author.kind === "member" && !own;
  const isBlocked = blocked.value.has(author.id);
  /** @param {MouseEvent} [event] */
  const remove = (event) =>
    event?.shiftKey ? tryOrNotify(acts.remove(message)) : showDialog("remove", { message });
  const reply = () => {
    if (message.conversation_id !== undefined) answering.value = message;
    else draftOf(conversationKeyOf(message.channel_id, message.thread)).reply.value = { message, ping: !own };
    focusMessageField(message.conversation_id ?? conversationKeyOf(message.channel_id, message.thread));
  };
  const copy = (/** @type {string} */ text, /** @type {string} */ done) =>
    navigator.clipboard.writeText(text).then(
      () => notify(done, "done"),
      () => notify(t("copy-failed")),
    );
  const quick = hasPermission("add_reactions") ? quickOf(message, message.reactions) : [];
  /**
   * Build the menu items. Called when the menu opens rather than for each rendered message.
   * @returns {ItemList}
   */
  const more = () => {
    const sheet = hasSheets();
    /** @type {ItemList} */
    const editing = [
      sheet && hasPermission("send_messages") && { label: t("reply"), icon: "reply", onChoose: reply },
      sheet && own && hasPermission("send_messages") && { label: t("edit"), icon: "edit", onChoose: onEdit },
      posted &&
        !posted.thread &&
        hasPermission("send_messages") && {
          label: t("answer-in-thread"),
          icon: "thread",
          onChoose: () => openSidePanel("thread", { channelId: posted.channel_id, thread: id, writes: true }),
        },
      posted &&
        posted.previews?.length > 0 &&
        mayRemove && {
          label: t("remove-previews"),
          icon: "close",
          onChoose: () => tryOrNotify(acts.removePreviews(posted)),
        },
    ];
    /** @type {ItemList} */
    const using = [
      message.reactions.length > 0 && {
        label: t("reactions"),
        icon: "emoji",
        onChoose: () => showDialog("reacted", { message, conversation }),
      },
      posted &&
        !posted.thread && {
          label: t("mark-unread"),
          icon: "bell",
          onChoose: () => tryOrNotify(markUnread(posted)),
        },
      {
        label: t("copy-text"),
        icon: "copy",
        onChoose: () => copy(shortened(message.text, new Map()), t("copied")),
      },
      sheet && message.text && { label: t("select-text"), icon: "file", onChoose: () => select(lane) },
      posted && {
        label: t("copy-link"),
        icon: "link",
        onChoose: () => copy(addressOf(posted.channel_id, id), t("link-copied")),
      },
      posted && { label: t("forward"), icon: "forward", onChoose: () => forward(posted) },
      posted &&
        hasPermission("manage_messages") && {
          label: pinned ? t("unpin") : t("pin"),
          icon: "pin",
          onChoose: () => tryOrNotify(acts.pin(posted, !pinned)),
        },
    ];
    /** @type {ItemList} */
    const person = [
      other &&
        mayOnServer("send_messages") &&
        mayWriteTo(author) && {
          label: t("private-to", { name }),
          icon: "lock",
          onChoose: () => tryOrNotify(writeTo(author.id)),
        },
      other && {
        label: isBlocked ? t("unblock", { name }) : t("block", { name }),
        icon: "quiet",
        onChoose: () => tryOrNotify(isBlocked ? unblock(author.id) : block(author.id)),
      },
      other &&
        !("trouble" in message && message.trouble) && {
          label: t("report"),
          icon: "flag",
          onChoose: () => showDialog("report", { message }),
        },
    ];
    /** @type {ItemList} */
    const removing = [mayRemove && { label: t("delete"), icon: "trash", danger: true, onChoose: remove }];
    // The bottom sheet contains all actions.
    const limit = sheet ? SHEET_EMOJI : undefined;
    /** @type {ItemList} */
    const signs = [
      ...(HANDHELD.matches && hasPermission("add_reactions")
        ? quickOf(message, message.reactions, limit)
        : []
      ).map(({ sign, label, press }) => ({ label, sign: html`<${Sign} sign=${sign} />`, onChoose: press })),
      sheet &&
        hasPermission("add_reactions") && {
          label: t("react"),
          sign: html`<${Icon} name="add" />`,
          onChoose: () => setPicking(true),
        },
    ];
    return [signs, editing, using, person, removing].flatMap((group) =>
      group
        .filter((item) => !!item)
        .map((item, at) => (at || group === signs ? item : { ...item, apart: true })),
    );
  };
  const look = picking ? "in-use" : replaced ? "replaced" : menu ? "in-use" : "";
  return html`<div ref=${lane} class=${`actions-lane ${look}`}>
    <div class=${`actions ${picking ? "picking" : ""}`} role="group" aria-label=${t("message-of", { name })}>
      ${quick.map(
        ({ sign, own: pressed, label, press }) =>
          html`<button
            key=${sign}
            type="button"
            class="icon-button quick"
            aria-label=${label}
            aria-pressed=${pressed}
            onClick=${press}
          >
            <${Sign} sign=${sign} />
          </button>`,
      )}
      ${
        hasPermission("add_reactions") &&
        html`<${IconButton}
          icon="emoji"
          label=${t("react")}
          aria-expanded=${picking}
          onClick=${() => setPicking(!picking)}
        />`
      }
      ${
        hasPermission("send_messages") &&
        html`<${IconButton} icon="reply" label=${t("reply")} onClick=${reply} />`
      }
      ${
        own &&
        hasPermission("send_messages") &&
        html`<${IconButton} icon="edit" label=${t("edit")} onClick=${onEdit} />`
      }
      ${
        mayRemove &&
        html`<${IconButton} icon="trash" label=${t("delete")} class="from-hover" onClick=${remove} />`
      }
      <${MenuButton} label=${t("more")} items=${more} onOpen=${setMenu} />
      ${
        picking &&
        html`<${Picker}
          onChoose=${(/** @type {string} */ sign) => tryOrNotify(acts.react(message, sign, true))}
          onClose=${() => setPicking(false)}
        />`
      }
    </div>
  </div>`;
}
