// Renders the composer: the text field, the message being replied to, the attached files, and the send
// button. It never waits for the network. A message is shown immediately and sent as soon as possible.

/** @import { Channel } from "../../types/api.js" */
/** @import { TimelineRef } from "../conversation/conversation.js" */

import { hasPermission, conversationKeyOf } from "../../state/channels.js";
import { clear, draftOf, write } from "../../state/drafts.js";
import { showDialog } from "../../state/navigation.js";
import { notify } from "../../state/notices.js";
import { shownFrom } from "../../state/offline_copy.js";
import { send, secondsLeft } from "../../state/outbox.js";
import { member } from "../../state/server.js";
import { weSent, weType } from "../../state/typing_indicators.js";
import { uploadsOf } from "../../state/uploads.js";
import { html, useEffect, useState } from "../../vendor/preact.js";
import { attach } from "./attachments.js";
import { CompletionList } from "./completion_list.js";
import { keepFocus, ReplyLine, SendButton, useComposer } from "./composer_form.js";
import { MAX_CHARACTERS } from "./text_field.js";
import { EmojiButton } from "../emoji/emoji_popup.js";
import { IconButton } from "../parts/button.js";
import { Lazy } from "../parts/lazy_component.js";
import { formatDuration, formatMoment } from "../parts/time.js";
import { t } from "../../words/words.js";

const FEW = 200; // The number of remaining characters is shown if it is less than this.
const FormatBar = Lazy(() => import("./format_bar.js"), "FormatBar");
const UploadList = Lazy(() => import("./upload_list.js"), "UploadList");

/**
 * `thread` is the id of the thread's root message, if any.
 * @param {{channel: Channel, thread?: string | null, timeline: TimelineRef}} props
 */
export function Composer({ channel, thread = null, timeline }) {
  const id = conversationKeyOf(channel.id, thread);
  const draft = draftOf(id);
  const uploads = uploadsOf(id);
  const maySend = hasPermission("send_messages", channel.id);
  const mayAttach = maySend && hasPermission("attach_files", channel.id);
  // While the offline copy is shown, messages cannot be sent, but drafts are kept.
  const away = shownFrom.value !== null;
  const text = draft.text.value;
  const reply = draft.reply.value;
  const dropReply = () => {
    draft.reply.value = null;
  };
  const [selected, setSelected] = useState(false);
  const form = useComposer({
    conversationKey: id,
    text,
    names: draft.names,
    channelId: channel.id,
    write: (now) => write(id, now),
    uploads,
    mayAttach,
    attach: (list) => attach(id, list),
    hasReply: reply !== null,
    dropReply,
    editLast: () => timeline.current?.editLast(),
    typed: (value) => {
      if (value.trim()) weType(channel.id);
    },
    isBlocked() {
      const left = secondsLeft(channel.id);
      if (left && !away) notify(slowWords(left));
      return away || left > 0;
    },
    submit(written, deliver) {
      if (!written.startsWith("/") || away) {
        deliver(written);
        return;
      }
      import("../../state/slash_commands.js")
        .then(({ runCommand }) => runCommand(written, () => clear(id)))
        .then(
          (text) => {
            // Execute a command only once, even if it was submitted twice.
            if (text !== null && draft.text.value === written) deliver(text);
          },
          () => notify(t("error-unreachable")),
        );
    },
    send({ text, later, files }) {
      send(id, { text, later, attachments: files, reply: reply?.message ?? null, ping: reply?.ping ?? true });
      uploads.attached(files);
      clear(id);
      weSent(channel.id);
      timeline.current?.toEnd();
    },
  });
  const { writing } = form;
  const label = thread ? t("answer-field") : t("message-to", { channel: channel.name });
  return html`<form
    id=${thread ? undefined : "composer"}
    class="composer"
    novalidate
    onSubmit=${form.onSubmit}
  >
    <${CompletionList} completion=${writing.completion} />
    ${
      reply &&
      html`<${ReplyLine}
        ...${reply}
        onPing=${() => {
          draft.reply.value = { ...reply, ping: !reply.ping };
        }}
        onClose=${dropReply}
      />`
    }
    ${uploads.list.value.length > 0 && html`<${UploadList} uploads=${uploads} />`}
    ${selected && html`<${FormatBar} field=${writing.field} onFormat=${writing.wrap} />`}
    <div class="row" onMouseDown=${keepFocus}>
      ${
        mayAttach &&
        html`<${IconButton}
          icon="attach"
          label=${t("attach")}
          disabled=${away}
          onClick=${form.pickFiles}
        />`
      }
      <input id=${thread ? undefined : "files"} ...${form.input} />
      <textarea
        id=${thread ? undefined : "draft"}
        class="draft"
        ...${form.area}
        disabled=${!maySend}
        readonly=${away}
        aria-label=${label}
        placeholder=${maySend ? label : whyNot()}
        onSelect=${() => setSelected(true)}
      ></textarea>
      ${
        text.length > MAX_CHARACTERS - FEW &&
        html`<span
          class="left quiet"
          role="status"
          title=${t("characters-left", { count: MAX_CHARACTERS - text.length })}
        >
          ${MAX_CHARACTERS - text.length}
          <span class="unseen"> ${t("characters-left", { count: MAX_CHARACTERS - text.length })}</span>
        </span>`
      }
      <${SlowLeft} channelId=${channel.id} />
      ${
        mayAttach &&
        !text &&
        !uploads.list.value.length &&
        "MediaRecorder" in globalThis &&
        html`<${IconButton}
          icon="mic"
          label=${t("voice-record")}
          disabled=${away}
          onClick=${() => showDialog("voice-message", { conversationKey: id })}
        />`
      }
      <${EmojiButton} disabled=${!maySend || away} onChoose=${writing.insert} />
      <${SendButton} disabled=${!maySend || away} />
    </div>
  </form>`;
}

/** Return the reason why the user cannot send messages in this channel. */
function whyNot() {
  const until = member.value?.timeout_until_ms ?? 0;
  return until > Date.now() ? t("in-timeout-until", { time: formatMoment(until) }) : t("read-only");
}

/** @param {{channelId: string}} props */
export function SlowLeft({ channelId }) {
  const [, again] = useState(0);
  const left = secondsLeft(channelId);
  useEffect(() => {
    if (!left) return undefined;
    const timer = setInterval(() => again((count) => count + 1), 1000);
    return () => clearInterval(timer);
  }, [left > 0]);
  return (
    left > 0 &&
    html`<span class="left quiet" role="timer" title=${slowWords(left)}>
      <span aria-hidden="true">${clock(left)}</span>
      <span class="unseen">${slowWords(left)}</span>
    </span>`
  );
}

/**
 * Describe the remaining wait in slow mode. Durations over a minute are rounded up to whole minutes.
 * @param {number} left
 */
export const slowWords = (left) =>
  t("slow-mode-left", { time: formatDuration(left > 60 ? Math.ceil(left / 60) * 60 : left) });

/** Format a duration as "0:05" or "1:02:03". @param {number} seconds */
function clock(seconds) {
  const two = (/** @type {number} */ number) => String(number).padStart(2, "0");
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  return hours ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}
