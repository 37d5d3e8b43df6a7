// Implements the form that all composers share: its keys, its files, and a submission that waits for uploads.
// The caller sends the message.

/** @import { RefObject } from "../../vendor/preact.js" */
/** @import { Quotable } from "../conversation/message.js" */

import { notify } from "../../state/notices.js";
import { nameNow } from "../../state/people.js";
import { html, useEffect, useLayoutEffect, useRef, useState } from "../../vendor/preact.js";
import { isSendKey, useMessageField } from "../parts/focus.js";
import { MAX_CHARACTERS, useWriting } from "./text_field.js";
import { quoted } from "../conversation/message.js";
import { IconButton } from "../parts/button.js";
import { Icon } from "../parts/icon.js";
import { t } from "../../words/words.js";

/**
 * Manage a composer's form. `conversationKey` is the key of the draft; `text`, `names`, `channelId` and
 * `write` are described in text_field.js. `submit(written, deliver)` replaces `deliver` for commands.
 * `isBlocked` returns whether sending is currently impossible. `send` sends a valid message with its files.
 * The result contains attributes for the form (`onSubmit`), its file input (`input`) and its text area
 * (`area`).
 * @template Uploaded
 * @param {{
 *   conversationKey: string, text: string, names: Map<string, string>, channelId: string | null,
 *   write: (markdown: string) => void,
 *   uploads: {list: {readonly value: {state: string}[]}, pending: boolean, ready: Uploaded[]},
 *   mayAttach: boolean, attach: (files: File[]) => void,
 *   hasReply: boolean, dropReply: () => void, editLast: () => void, typed?: (value: string) => void,
 *   isBlocked: () => boolean, submit?: (written: string, deliver: (written: string) => void) => void,
 *   send: (message: {text: string, later?: Promise<string>, files: Uploaded[]}) => void
 * }} given
 */
export function useComposer(given) {
  const { conversationKey, uploads, mayAttach, attach, hasReply } = given;
  const writing = useWriting(given);
  /** @type {RefObject<HTMLInputElement>} */
  const files = useRef(null);
  // The key of the submitted message's channel or thread while its files are still uploading.
  const [submittedKey, setSubmittedKey] = useState(/** @type {string | null} */ (null));
  const drawn = uploads.list.value;
  useMessageField(conversationKey, writing.field);
  useLayoutEffect(() => {
    // On a phone, focusing the field would open the keyboard over the messages.
    if (matchMedia("(pointer: fine)").matches) writing.field.current.focus();
  }, [conversationKey]);
  const deliver = (/** @type {string} */ written) => {
    if (given.isBlocked()) return;
    if (uploads.pending) {
      setSubmittedKey(conversationKey);
      notify(t("files-on-their-way"), "done");
      return;
    }
    const { text, later } = writing.finished(written);
    const ready = uploads.ready;
    if (!text.trim() && !ready.length) return;
    if (text.length > MAX_CHARACTERS) {
      notify(t("too-long"));
      return;
    }
    given.send({ text, later, files: ready });
    writing.completion.close();
  };
  /** @param {Event} [event] */
  const onSubmit = (event) => {
    event?.preventDefault();
    (given.submit ?? deliver)(writing.written(), deliver);
  };
  useEffect(() => {
    // Read the current state, which may be newer than the rendered one. A rejected file cancels the
    // submission.
    if (submittedKey === null || uploads.pending) return;
    setSubmittedKey(null);
    if (submittedKey === conversationKey && uploads.list.value.every(({ state }) => state === "done"))
      onSubmit();
  }, [submittedKey, drawn, conversationKey]);
  const onKeyDown = (/** @type {EventOn<HTMLTextAreaElement, KeyboardEvent>} */ event) => {
    if (writing.pressed(event)) return;
    if (isSendKey(event)) onSubmit(event);
    else if (event.key === "ArrowUp" && !event.currentTarget.value) {
      event.preventDefault();
      given.editLast();
    } else if (event.key === "Escape" && hasReply) {
      event.preventDefault();
      given.dropReply();
    }
  };
  const onInput = (/** @type {EventOn<HTMLTextAreaElement, InputEvent>} */ event) => {
    setSubmittedKey(null);
    writing.typed(event);
    given.typed?.(event.currentTarget.value);
  };
  const onPaste = (/** @type {EventOn<HTMLTextAreaElement, ClipboardEvent>} */ event) => {
    const list = [...(event.clipboardData?.files ?? [])];
    const words = event.clipboardData?.getData("text/plain") ?? "";
    const { value, selectionStart, selectionEnd } = event.currentTarget;
    const isLong = value.length - (selectionEnd - selectionStart) + words.length > MAX_CHARACTERS;
    if (!list.length && !isLong) return;
    event.preventDefault();
    if (list.length) {
      attach(list);
    } else if (mayAttach) {
      attach([new File([words], "message.txt", { type: "text/plain" })]);
      notify(t("pasted-as-file"), "done");
    } else notify(t("too-long"));
  };
  const onChange = (/** @type {EventOn<HTMLInputElement>} */ { currentTarget }) => {
    attach([...(currentTarget.files ?? [])]);
    currentTarget.value = "";
    writing.field.current.focus();
  };
  return {
    writing,
    onSubmit,
    pickFiles: () => files.current.click(),
    input: { type: "file", multiple: true, hidden: true, ref: files, onChange },
    area: { ...writing.attributes, onInput, onKeyDown, onPaste },
  };
}

/**
 * A line with the message being replied to. `onPing` is null where replies never notify the author.
 * @param {{message: Quotable & {author: {display_name: string}}, ping?: boolean, onPing?: (() => void) |
 *   null, onClose: () => void}} props
 */
export function ReplyLine({ message, ping = false, onPing = null, onClose }) {
  return html`<div class="reply-line">
    <${Icon} name="reply" />
    <span class="one-line" dir="auto">
      ${t("replying-to", { name: nameNow(message.author) })} <span class="quiet">${quoted(message)}</span>
    </span>
    ${
      onPing &&
      html`<button
        type="button"
        class=${`button chip ${ping ? "on" : ""}`}
        aria-pressed=${ping}
        onClick=${onPing}
      >
        <${Icon} name=${ping ? "bell" : "bell-off"} />${t("ping")}
      </button>`
    }
    <${IconButton} icon="close" label=${t("cancel-reply")} onClick=${onClose} />
  </div>`;
}

/**
 * Keep the focus in the field when a tap misses the buttons. Otherwise, a phone's keyboard would close.
 * @param {Event} event
 */
export const keepFocus = (event) => {
  if (event.target === event.currentTarget) event.preventDefault();
};

/**
 * The send button. It leaves the focus in the text field, because a phone's keyboard would close otherwise.
 * @param {{disabled: boolean}} props
 */
export function SendButton({ disabled }) {
  return html`<${IconButton}
    icon="send"
    label=${t("send")}
    class="send"
    type="submit"
    disabled=${disabled}
    onPointerDown=${(/** @type {Event} */ event) => event.preventDefault()}
  />`;
}
