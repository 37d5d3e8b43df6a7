// The composer of a private conversation, with its attachments.

/** @import { PrivateUploads } from "../../state/private/uploads.js" */
/** @import { PrivateConversation } from "../../state/private_conversations.js" */
/** @import { RefObject } from "../../vendor/preact.js" */

import { may } from "../../state/channels.js";
import { notify } from "../../state/notices.js";
import { privateClient } from "../../state/private_client.js";
import { answering, attaching, begun, nameOf } from "../../state/private_conversations.js";
import { html, useLayoutEffect, useRef, useState } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { CompletionList } from "../composer/completion_list.js";
import { isSendKey, useField } from "../composer/fields.js";
import { FormatBar } from "../composer/format_bar.js";
import { ReplyLine } from "../composer/reply_line.js";
import { UploadList } from "../composer/upload_list.js";
import { useWhenReady } from "../composer/delayed_submit.js";
import { useWriting } from "../composer/text_field.js";
import { EmojiButton } from "../emoji/emoji_button.js";
import { IconButton } from "../parts/button.js";
import { undressed } from "./picture_metadata.js";

const NO_UPLOADS = { list: { value: [] }, pending: false };

/** @param {{conversation: PrivateConversation, closed: boolean, editLast: () => void}} props */
export function ConversationComposer({ conversation, closed, editLast }) {
  /** @type {RefObject<HTMLInputElement>} */
  const chosen = useRef(null);
  const [uploads, setUploads] = useState(
    /** @type {PrivateUploads | null} */ (attaching.get(conversation.id) ?? null),
  );
  const [text, setText] = useState(begun.get(conversation.id) ?? "");
  // Names as shown in the field; drafts and sent messages are markdown.
  const [names] = useState(() => /** @type {Map<string, string>} */ (new Map()));
  const shut = closed || !may("send_messages");
  const write = (/** @type {string} */ now) => {
    begun.set(conversation.id, now);
    setText(now);
  };
  const writing = useWriting({ text, names, channelId: null, write });
  useField(conversation.id, writing.field);
  // Wait for this before attaching: a message sent at the same moment would go without its files.
  useLayoutEffect(() => {
    privateClient().then((running) => setUploads(running.uploadsOf(conversation.id, undressed)));
  }, []);
  const attach = (/** @type {File[]} */ files) => {
    if (uploads?.add(files) === false) notify(t("too-many-files"));
  };
  const pasted = (/** @type {ClipboardEvent} */ event) => {
    const files = [...(event.clipboardData?.files ?? [])];
    if (!files.length) return;
    event.preventDefault();
    attach(files);
  };
  const picked = (/** @type {EventOn<HTMLInputElement>} */ { currentTarget }) => {
    attach([...(currentTarget.files ?? [])]);
    currentTarget.value = "";
    writing.field.current.focus();
  };
  useLayoutEffect(() => {
    // On a phone, focus would open the keyboard over the messages.
    if (matchMedia("(pointer: fine)").matches) writing.field.current.focus();
  }, []);
  const reply = answering.value?.conversation_id === conversation.id ? answering.value : null;
  const unanswer = () => {
    answering.value = null;
  };
  /** @param {Event} [event] */
  const submit = (event) => {
    event?.preventDefault();
    if (uploads?.pending) {
      whenReady.ask();
      return;
    }
    const files = uploads?.ready ?? [];
    const { text: now, later } = writing.finished(writing.written());
    if ((!now.trim() && !files.length) || shut) return;
    write("");
    uploads?.sent();
    if (reply) unanswer();
    writing.completion.close();
    Promise.all([privateClient(), later?.catch(() => now) ?? now]).then(
      ([running, said]) => running.send(conversation.id, said, { reply: reply?.ref, files }),
      () => write(now),
    );
  };
  const whenReady = useWhenReady(uploads ?? NO_UPLOADS, conversation.id, () => submit());
  const pressed = (/** @type {EventOn<HTMLTextAreaElement, KeyboardEvent>} */ event) => {
    if (writing.pressed(event)) return;
    if (isSendKey(event)) submit(event);
    else if (event.key === "ArrowUp" && !event.currentTarget.value) {
      event.preventDefault();
      editLast();
    } else if (event.key === "Escape" && reply) {
      event.preventDefault();
      unanswer();
    }
  };
  const typed = (/** @type {EventOn<HTMLTextAreaElement, InputEvent>} */ event) => {
    whenReady.forget();
    writing.typed(event);
  };
  const label = t("private-to", { name: nameOf(conversation) });
  return html`<form id="private-composer" class="composer" novalidate onSubmit=${submit}>
    <${CompletionList} completion=${writing.completion} />
    ${reply && html`<${ReplyLine} message=${reply} onClose=${unanswer} />`}
    ${uploads && html`<${UploadList} uploads=${uploads} />`}
    <${FormatBar} field=${writing.field} onFormat=${writing.wrap} />
    <div class="row">
      <${IconButton}
        icon="attach"
        label=${t("attach")}
        disabled=${shut || !uploads}
        onClick=${() => chosen.current.click()}
      />
      <input id="private-files" type="file" multiple hidden ref=${chosen} onChange=${picked} />
      <textarea
        id="private-draft"
        class="draft"
        ...${writing.attributes}
        disabled=${shut}
        aria-label=${label}
        placeholder=${shut ? t("read-only") : label}
        onInput=${typed}
        onKeyDown=${pressed}
        onPaste=${pasted}
      ></textarea>
      <${EmojiButton} disabled=${shut} onChoose=${writing.insert} />
      <${IconButton} icon="send" label=${t("send")} class="send" type="submit" disabled=${shut} />
    </div>
  </form>`;
}
