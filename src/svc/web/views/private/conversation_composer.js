// Renders the composer of a private conversation. Images are redrawn before they are sent, to strip metadata
// such as the location, time and camera, because the server cannot strip it from encrypted files. Images that
// cannot be redrawn are sent unchanged, without a media type.

/** @import { PrivateUploads } from "../../state/private/uploads.js" */
/** @import { PrivateConversation } from "../../state/private_conversations.js" */

import { hasPermission } from "../../state/channels.js";
import { notify } from "../../state/notices.js";
import { privateClient } from "../../state/private_client.js";
import { answering, attaching, begun, nameOf } from "../../state/private_conversations.js";
import { html, useLayoutEffect, useState } from "../../vendor/preact.js";
import { CompletionList } from "../composer/completion_list.js";
import { keepFocus, ReplyLine, SendButton, useComposer } from "../composer/composer_form.js";
import { FormatBar } from "../composer/format_bar.js";
import { UploadList } from "../composer/upload_list.js";
import { EmojiButton } from "../emoji/emoji_popup.js";
import { IconButton } from "../parts/button.js";
import { t } from "../../words/words.js";

const NO_UPLOADS = { list: { value: [] }, pending: false, ready: [] };

/** @param {{conversation: PrivateConversation, closed: boolean, editLast: () => void}} props */
export function ConversationComposer({ conversation, closed, editLast }) {
  const [uploads, setUploads] = useState(
    /** @type {PrivateUploads | null} */ (attaching.get(conversation.id) ?? null),
  );
  const [text, setText] = useState(begun.get(conversation.id) ?? "");
  // The names that the field shows for mentions. Drafts and sent messages are Markdown.
  const [names] = useState(() => /** @type {Map<string, string>} */ (new Map()));
  const shut = closed || !hasPermission("send_messages");
  const write = (/** @type {string} */ now) => {
    begun.set(conversation.id, now);
    setText(now);
  };
  const reply = answering.value?.conversation_id === conversation.id ? answering.value : null;
  const dropReply = () => {
    answering.value = null;
  };
  const form = useComposer({
    conversationKey: conversation.id,
    text,
    names,
    channelId: null,
    write,
    uploads: uploads ?? NO_UPLOADS,
    mayAttach: !shut && uploads !== null,
    attach(files) {
      if (uploads?.add(files) === false) notify(t("too-many-files"));
    },
    hasReply: reply !== null,
    dropReply,
    editLast,
    isBlocked: () => shut,
    send({ text: now, later, files }) {
      write("");
      uploads?.sent();
      if (reply) dropReply();
      Promise.all([privateClient(), later?.catch(() => now) ?? now]).then(
        ([client, content]) => client.send(conversation.id, content, { reply: reply?.ref, files }),
        () => write(now),
      );
    },
  });
  const { writing } = form;
  // Files can be attached only once this has loaded. A message sent earlier would lack its files.
  useLayoutEffect(() => {
    privateClient().then((client) => setUploads(client.uploadsOf(conversation.id, withoutMetadata)));
  }, []);
  const label = t("private-to", { name: nameOf(conversation) });
  return html`<form id="private-composer" class="composer" novalidate onSubmit=${form.onSubmit}>
    <${CompletionList} completion=${writing.completion} />
    ${reply && html`<${ReplyLine} message=${reply} onClose=${dropReply} />`}
    ${uploads && html`<${UploadList} uploads=${uploads} />`}
    <${FormatBar} field=${writing.field} onFormat=${writing.wrap} />
    <div class="row" onMouseDown=${keepFocus}>
      <${IconButton}
        icon="attach"
        label=${t("attach")}
        disabled=${shut || !uploads}
        onClick=${form.pickFiles}
      />
      <input id="private-files" ...${form.input} />
      <textarea
        id="private-draft"
        class="draft"
        ...${form.area}
        disabled=${shut}
        aria-label=${label}
        placeholder=${shut ? t("read-only") : label}
      ></textarea>
      <${EmojiButton} disabled=${shut} onChoose=${writing.insert} />
      <${SendButton} disabled=${shut} />
    </div>
  </form>`;
}

/** @type {{[type: string]: string | undefined}} */
const DRAWN = {
  "image/jpeg": "image/jpeg",
  "image/png": "image/png",
  "image/webp": "image/webp",
  "image/avif": "image/webp",
  "image/heic": "image/jpeg",
  "image/heif": "image/jpeg",
};
const MOVING = "image/gif"; // A GIF has no location data, and redrawing would lose its animation.
const QUALITY = 0.92;
const LARGEST_PX = 64 * 2 ** 20;

/** Return the file to send, without metadata, and its dimensions, if it is an image. @param {File} file */
export async function withoutMetadata(file) {
  const as = DRAWN[file.type];
  if (!as && file.type !== MOVING) return { blob: file, width: null, height: null };
  let picture = null;
  try {
    picture = await createImageBitmap(file);
    const { width, height } = picture;
    if (!as) return { blob: file, width, height };
    if (width * height > LARGEST_PX) throw new RangeError("too large to be drawn");
    const canvas = new OffscreenCanvas(width, height);
    /** @type {OffscreenCanvasRenderingContext2D} */ (canvas.getContext("2d")).drawImage(picture, 0, 0);
    return { blob: await canvas.convertToBlob({ type: as, quality: QUALITY }), width, height };
  } catch {
    return { blob: new Blob([file]), width: null, height: null };
  } finally {
    picture?.close();
  }
}
