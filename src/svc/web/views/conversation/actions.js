// What may be done with a message: the usual things beside it, the rest in a menu.

import { may as mayOnServer } from "../../state/channels.js";
import { acts } from "../../state/conversation.js";
import { draftOf } from "../../state/drafts.js";
import { notify, tried } from "../../state/notices.js";
import { block, blocked, unblock } from "../../state/people.js";
import { addressOf, showAside, showDialog } from "../../state/place.js";
import { answering, mayWriteTo, writeTo } from "../../state/private_talks.js";
import { member } from "../../state/server.js";
import { forward } from "../../state/sharing.js";
import { shortened } from "../../state/shortened.js";
import { spotOf } from "../../state/spot.js";
import { markUnread } from "../../state/unread.js";
import { html, useState } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { draftId } from "../composer/draft_id.js";
import { IconButton } from "../parts/button.js";
import { MenuButton, openWhere } from "../parts/menu.js";
import { Picker, quickOf, Sign } from "./reactions.js";

/** A right click or a long touch opens the menu, but where the browser's own is of more use. */
export function openMenuOf(event) {
  const button = event.currentTarget.querySelector(".actions .menu-holder > button");
  if (!button || event.target.closest("a, img, video, audio, input, textarea, .menu") || !getSelection().isCollapsed) return;
  openWhere(event, button);
}

const NARROW = matchMedia("(max-width: 640px)"); // As in style/conversation.css.

export function Actions({ message, may, onEdit }) {
  const [picking, setPicking] = useState(false);
  const { author, pinned, channel_id: channelId, talk_id: talkId = null, id } = message;
  const own = author.kind === "member" && author.id === member.value.id;
  const mayRemove = own || may("manage_messages");
  const other = author.kind === "member" && !own;
  const isBlocked = blocked.value.has(author.id);
  const remove = (event) => (event?.shiftKey ? tried(acts.remove(message)) : showDialog("remove", { message }));
  const reply = () => {
    if (talkId) answering.value = message;
    else draftOf(spotOf(channelId, message.thread)).reply.value = { message, ping: !own };
    document.getElementById(talkId ? "private-draft" : draftId(message.thread))?.focus();
  };
  const copy = (text, done) => navigator.clipboard.writeText(text).then(() => notify(done, "done"), () => notify(t("copy-failed")));
  const quick = may("add_reactions") ? quickOf(message, message.reactions) : [];
  // Made when the menu is opened, not for each message that is drawn.
  const more = () => [
    ...(NARROW.matches ? quick.map(({ own: checked, label, press }) => ({ label, icon: checked ? "check" : "emoji", onChoose: press })) : []),
    !talkId && !message.thread && may("send_messages") && { label: t("answer-in-thread"), icon: "thread", onChoose: () => showAside("thread", { channelId, thread: id }) },
    message.previews?.length > 0 && mayRemove && { label: t("remove-previews"), icon: "close", onChoose: () => tried(acts.removePreviews(message)) },
    !talkId && !message.thread && { label: t("mark-unread"), icon: "bell", onChoose: () => tried(markUnread(message)) },
    { label: t("copy-text"), icon: "copy", onChoose: () => copy(shortened(message.text, new Map()), t("copied")) },
    !talkId && { label: t("copy-link"), icon: "link", onChoose: () => copy(addressOf(channelId, id), t("link-copied")) },
    !talkId && { label: t("forward"), icon: "forward", onChoose: () => forward(message) },
    may("manage_messages") && { label: pinned ? t("unpin") : t("pin"), icon: "pin", onChoose: () => tried(acts.pin(message, !pinned)) },
    other && mayOnServer("send_messages") && mayWriteTo(author) && { label: t("private-message"), icon: "lock", onChoose: () => tried(writeTo(author.id)) },
    other && { label: isBlocked ? t("unblock", { name: author.display_name }) : t("block", { name: author.display_name }), icon: "close", onChoose: () => tried(isBlocked ? unblock(author.id) : block(author.id)) },
    other && !talkId && { label: t("report"), icon: "flag", onChoose: () => showDialog("report", { message }) },
    mayRemove && { label: t("delete"), icon: "trash", danger: true, onChoose: remove },
  ];
  return html`<div class="actions-lane"><div class="actions" role="group" aria-label=${t("message-of", { name: author.display_name })}>
    ${quick.map(({ sign, own: pressed, label, press }) => html`<button key=${sign} type="button" class="icon-button quick" aria-label=${label} title=${label} aria-pressed=${pressed} onClick=${press}><${Sign} sign=${sign} /></button>`)}
    ${may("add_reactions") && html`<${IconButton} icon="emoji" label=${t("react")} aria-expanded=${picking} onClick=${() => setPicking(!picking)} />`}
    ${may("send_messages") && html`<${IconButton} icon="reply" label=${t("reply")} onClick=${reply} />`}
    ${own && may("send_messages") && html`<${IconButton} icon="edit" label=${t("edit")} onClick=${onEdit} />`}
    ${mayRemove && html`<${IconButton} icon="trash" label=${t("delete")} class="from-hover" onClick=${remove} />`}
    <${MenuButton} label=${t("more")} items=${more} />
    ${picking && html`<${Picker} onChoose=${(sign) => tried(acts.react(message, sign, true))} onClose=${() => setPicking(false)} />`}
  </div></div>`;
}
