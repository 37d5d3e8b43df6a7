// Where one writes in a private conversation, and puts files to what one writes.

/** @import { PrivateUploads } from "../../state/private/uploads.js" */
/** @import { Talk } from "../../state/private_talks.js" */
/** @import { RefObject } from "../../vendor/preact.js" */

import { may } from "../../state/channels.js";
import { notify } from "../../state/notices.js";
import { answering, attaching, begun, nameOf, theRunning } from "../../state/private_talks.js";
import { formatOf, formatted } from "../../state/formatting.js";
import { restored, shortened } from "../../state/shortened.js";
import { html, useLayoutEffect, useRef, useState } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { CompletionList, useCompletion } from "../composer/completion_list.js";
import { useEmoticons } from "../composer/emoticons.js";
import { grow } from "../composer/grow.js";
import { ReplyLine } from "../composer/reply_line.js";
import { EmojiPopup } from "../emoji/emoji_popup.js";
import { UploadList } from "../composer/upload_list.js";
import { useWhenReady } from "../composer/when_ready.js";
import { IconButton } from "../parts/button.js";
import { undressed } from "./undressed.js";

const MOST = 4000; // Characters, as in the channels.
const NO_UPLOADS = { list: { value: [] }, pending: false };

/** @param {{talk: Talk, closed: boolean, editLast: () => void}} props */
export function TalkComposer({ talk, closed, editLast }) {
  /** @type {[RefObject<HTMLTextAreaElement>, RefObject<HTMLElement>, RefObject<HTMLInputElement>]} */
  const [field, emojiButton, chosen] = [useRef(null), useRef(null), useRef(null)];
  const [uploads, setUploads] = useState(/** @type {PrivateUploads | null} */ (attaching.get(talk.id) ?? null));
  const [text, setText] = useState(begun.get(talk.id) ?? "");
  const [names] = useState(() => /** @type {Map<string, string>} */ (new Map())); // As they are shown in the field; what is kept and sent is markdown.
  const [picking, setPicking] = useState(false);
  const shut = closed || !may("send_messages");
  const attach = async (/** @type {File[]} */ files) => {
    if (!files.length) return;
    const all = uploads ?? (await theRunning()).uploadsOf(talk.id, undressed);
    setUploads(all);
    if (!all.add(files)) notify(t("too-many-files"));
  };
  /** @param {Event} event @param {FileList | undefined} list */
  const brought = (event, list) => {
    if (!list?.length) return;
    event.preventDefault();
    if (!shut) attach([...list]);
  };
  const picked = (/** @type {EventOn<HTMLInputElement>} */ { currentTarget }) => {
    attach([...currentTarget.files ?? []]);
    currentTarget.value = "";
    field.current.focus();
  };
  useLayoutEffect(() => grow(field.current), [text]);
  useLayoutEffect(() => {
    // On a phone this would put a keyboard over what somebody came to read.
    if (matchMedia("(pointer: fine)").matches) field.current.focus();
  }, []);
  const write = (/** @type {string} */ shown) => {
    const now = restored(shown, names);
    begun.set(talk.id, now);
    setText(now);
  };
  /** @param {string} now @param {number} start @param {number} [end] */
  const put = (now, start, end = start) => {
    const short = (/** @type {string} */ part) => shortened(restored(part, names), names);
    field.current.value = short(now);
    write(now);
    field.current.focus();
    field.current.setSelectionRange(short(now.slice(0, start)).length, short(now.slice(0, end)).length);
  };
  const completion = useCompletion(field, null, names, put);
  const emoticons = useEmoticons();
  const reply = answering.value?.talk_id === talk.id ? answering.value : null;
  const unanswer = () => { answering.value = null; };
  /** @param {Event} [event] */
  const submit = (event) => {
    event?.preventDefault();
    const now = restored(emoticons.sent(field.current.value), names);
    const files = uploads?.ready ?? [];
    if (uploads?.pending) {
      whenReady.ask();
      return;
    }
    if ((!now.trim() && !files.length) || shut) return;
    write("");
    uploads?.sent();
    if (reply) unanswer();
    completion.close();
    theRunning().then((running) => running.send(talk.id, now, { reply: reply?.ref, files }), () => write(now));
  };
  const whenReady = useWhenReady(uploads ?? NO_UPLOADS, talk.id, () => submit());
  const pressed = (/** @type {EventOn<HTMLTextAreaElement, KeyboardEvent>} */ event) => {
    if (event.isComposing || completion.onKey(event) || emoticons.pressed(event)) return;
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
      unanswer();
    }
  };
  const typed = (/** @type {EventOn<HTMLTextAreaElement, InputEvent>} */ event) => {
    whenReady.forget();
    emoticons.typed(event);
    write(event.currentTarget.value);
    completion.look();
  };
  const insert = (/** @type {string} */ sign) => {
    const { value, selectionStart: start, selectionEnd: end } = field.current;
    setPicking(false);
    put(`${value.slice(0, start)}${sign} ${value.slice(end)}`, start + sign.length + 1);
  };
  const label = t("private-to", { name: nameOf(talk) });
  const offered = completion.list.length > 0;
  return html`<form id="private-composer" class="composer" novalidate onSubmit=${submit} onDragOver=${(/** @type {DragEvent} */ event) => { if (event.dataTransfer?.types.includes("Files")) event.preventDefault(); }} onDrop=${(/** @type {DragEvent} */ event) => brought(event, event.dataTransfer?.files)}>
    <${CompletionList} completion=${completion} />
    ${reply && html`<${ReplyLine} message=${reply} onClose=${unanswer} />`}
    ${uploads && html`<${UploadList} uploads=${uploads} />`}
    <div class="row">
      <${IconButton} icon="attach" label=${t("attach")} disabled=${shut} onClick=${() => chosen.current.click()} />
      <input id="private-files" type="file" multiple hidden ref=${chosen} onChange=${picked} />
      <textarea id="private-draft" class="draft" ref=${field} rows="1" maxlength=${MOST} dir="auto" disabled=${shut} value=${shortened(text, names)} aria-label=${label} aria-haspopup="listbox" aria-autocomplete="list"
        aria-controls=${offered ? completion.id : undefined} aria-activedescendant=${offered ? `${completion.id}-at` : undefined}
        placeholder=${shut ? t("read-only") : label} onInput=${typed} onKeyDown=${pressed} onPaste=${(/** @type {ClipboardEvent} */ event) => brought(event, event.clipboardData?.files)}></textarea>
      <span ref=${emojiButton}><${IconButton} icon="emoji" label=${t("emoji-choose")} disabled=${shut} aria-expanded=${picking} onClick=${() => setPicking(!picking)} /></span>
      <${IconButton} icon="send" label=${t("send")} class="send" type="submit" disabled=${shut} />
    </div>
    ${picking && html`<${EmojiPopup} anchor=${emojiButton} onChoose=${insert} onClose=${() => setPicking(false)} />`}
  </form>`;
}
