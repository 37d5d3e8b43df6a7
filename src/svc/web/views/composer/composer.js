// Where one writes: the text, what it answers, its files, and the keys that send it. Nothing here waits for the
// network: what is sent is shown at once, and goes when it can.

import { may } from "../../state/channels.js";
import { clear, draftOf, write } from "../../state/drafts.js";
import { formatOf, formatted } from "../../state/formatting.js";
import { notify } from "../../state/notices.js";
import { send } from "../../state/outbox.js";
import { shownFrom } from "../../state/read_last.js";
import { spotOf } from "../../state/spot.js";
import { weSent, weType } from "../../state/typing.js";
import { uploadsOf } from "../../state/uploads.js";
import { html, useLayoutEffect, useRef, useState } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { EmojiPopup } from "../emoji/emoji_popup.js";
import { IconButton } from "../parts/button.js";
import { attach } from "./attach.js";
import { CompletionList, useCompletion } from "./completion_list.js";
import { draftId } from "./draft_id.js";
import { grow } from "./grow.js";
import { ReplyLine } from "./reply_line.js";
import { UploadList } from "./upload_list.js";

/** `thread`: the id of the message on which the thread hangs that is written in, or nothing. */
export function Composer({ channel, thread = null, editLast, sent }) {
  const id = spotOf(channel.id, thread);
  const draft = draftOf(id);
  const uploads = uploadsOf(id);
  const [field, files, emojiButton] = [useRef(null), useRef(null), useRef(null)];
  const [picking, setPicking] = useState(false);
  const [maySend, mayAttach] = [may("send_messages", channel.id), may("attach_files", channel.id)];
  const away = shownFrom.value !== null; // What is shown is what was kept: nothing can be sent yet, and drafts stay.
  const text = draft.text.value;
  const reply = draft.reply.value;
  useLayoutEffect(() => grow(field.current), [text]);
  useLayoutEffect(() => {
    // On a phone this would put a keyboard over what somebody came to read.
    if (matchMedia("(pointer: fine)").matches) field.current.focus();
  }, [id]);

  /** Write this, with the selection there. */
  const put = (now, start, end = start) => {
    field.current.value = now;
    write(id, now);
    field.current.focus();
    field.current.setSelectionRange(start, end);
  };
  const completion = useCompletion(field, channel.id, put);
  const insert = (sign) => {
    const { value, selectionStart: start, selectionEnd: end } = field.current;
    setPicking(false);
    put(`${value.slice(0, start)}${sign} ${value.slice(end)}`, start + sign.length + 1);
  };
  const submit = (event) => {
    event?.preventDefault();
    if (away) return;
    if (uploads.pending) {
      notify(t("files-on-their-way"));
      return;
    }
    const now = field.current.value;
    const attachments = uploads.ready;
    if (!now.trim() && !attachments.length) return;
    send(id, { text: now, attachments, reply: reply?.message ?? null, ping: reply?.ping ?? true });
    uploads.attached(attachments);
    clear(id);
    weSent(channel.id);
    completion.close();
    sent();
  };
  const pressed = (event) => {
    if (event.isComposing || completion.onKey(event)) return;
    const format = formatOf(event);
    if (format) {
      event.preventDefault();
      const { value, selectionStart, selectionEnd } = field.current;
      const now = formatted(value, selectionStart, selectionEnd, format.sign);
      put(now.text, now.start, now.end);
    } else if (event.key === "Enter" && !event.shiftKey) submit(event);
    else if (event.key === "ArrowUp" && !event.currentTarget.value) {
      event.preventDefault();
      editLast();
    } else if (event.key === "Escape" && reply) {
      event.preventDefault();
      draft.reply.value = null;
    }
  };
  const typed = (event) => {
    write(id, event.currentTarget.value);
    if (event.currentTarget.value.trim()) weType(channel.id);
    completion.look();
  };
  const pasted = (event) => {
    const list = [...event.clipboardData.files];
    if (!list.length) return;
    event.preventDefault();
    attach(id, list);
  };
  const picked = (event) => {
    attach(id, [...event.currentTarget.files]);
    event.currentTarget.value = "";
    field.current.focus();
  };
  const label = thread ? t("answer-field") : t("message-to", { channel: channel.name });
  const offered = completion.list.length > 0;
  return html`<form id=${thread ? undefined : "composer"} class="composer" novalidate onSubmit=${submit}>
    <${CompletionList} completion=${completion} />
    ${reply && html`<${ReplyLine} draft=${draft} reply=${reply} />`}
    <${UploadList} uploads=${uploads} />
    <div class="row">
      ${mayAttach && html`<${IconButton} icon="attach" label=${t("attach")} disabled=${away} onClick=${() => files.current.click()} />`}
      <input id=${thread ? undefined : "files"} type="file" multiple hidden ref=${files} onChange=${picked} />
      <textarea id=${draftId(thread)} class="draft" ref=${field} rows="1" maxlength="4000" dir="auto" disabled=${!maySend} readonly=${away} value=${text} aria-haspopup="listbox"
        aria-autocomplete="list" aria-controls=${offered ? completion.id : undefined} aria-activedescendant=${offered ? `${completion.id}-at` : undefined}
        aria-label=${label} placeholder=${maySend ? label : t("read-only")}
        onInput=${typed} onClick=${completion.look} onBlur=${completion.close} onKeyDown=${pressed} onPaste=${pasted}></textarea>
      <span ref=${emojiButton}><${IconButton} icon="emoji" label=${t("emoji-choose")} disabled=${!maySend || away} aria-expanded=${picking} onClick=${() => setPicking(!picking)} /></span>
      <${IconButton} icon="send" label=${t("send")} class="send" type="submit" disabled=${!maySend || away} />
    </div>
    ${picking && html`<${EmojiPopup} anchor=${emojiButton} onChoose=${insert} onClose=${() => setPicking(false)} />`}
  </form>`;
}
