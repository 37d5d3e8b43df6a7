// Renders the editor that replaces a message's text while it is being edited.

/** @import { Names } from "../../state/mention_text.js" */
/** @import { Shown } from "./message.js" */

import { acts } from "../../state/message_actions.js";
import { html, useEffect, useLayoutEffect, useState } from "../../vendor/preact.js";
import { explain, t } from "../../words/words.js";
import { CompletionList } from "../composer/completion_list.js";
import { isSendKey } from "../parts/focus.js";
import { useWriting } from "../composer/text_field.js";
import { Button } from "../parts/button.js";
import { useLayer } from "../parts/menu.js";

/**
 * Edited texts that were neither saved nor discarded, by message id.
 * @type {Map<string, string>}
 */
const unsaved = new Map();

/** @param {{message: Shown, onDone: () => void}} props */
export function Editor({ message, onDone }) {
  const [text, setText] = useState(unsaved.get(message.id) ?? message.text);
  const [names] = useState(() => /** @type {Names} */ (new Map()));
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  const write = (/** @type {string} */ written) => {
    unsaved.set(message.id, written);
    setText(written);
  };
  const writing = useWriting({ text, names, channelId: message.channel_id, write });
  useLayoutEffect(() => {
    const field = writing.field.current;
    field.focus();
    field.setSelectionRange(field.value.length, field.value.length);
  }, []);
  useEffect(() => {
    const field = writing.field.current;
    // Keep the field in view when an on-screen keyboard opens and the list shrinks.
    const observer = new ResizeObserver(() => field.parentElement?.scrollIntoView({ block: "nearest" }));
    for (const element of [field, field.closest(".messages-box")]) if (element) observer.observe(element);
    return () => observer.disconnect();
  }, []);
  useLayer(onDone);
  const end = () => {
    unsaved.delete(message.id);
    onDone();
  };
  const save = async () => {
    setBusy(true);
    try {
      await writing.completion.missing(text)?.catch(() => {});
      if (text !== message.text) await acts.edit(message, writing.completion.meant(text));
      end();
    } catch (error) {
      setProblem(explain(error));
      setBusy(false);
    }
  };
  const pressed = (/** @type {EventOn<HTMLTextAreaElement, KeyboardEvent>} */ event) => {
    if (writing.pressed(event)) return;
    if (event.key === "Escape") {
      event.preventDefault();
      end();
    } else if (isSendKey(event)) {
      event.preventDefault();
      save();
    }
  };
  return html`<div class="editor">
    <${CompletionList} completion=${writing.completion} />
    <textarea
      ...${writing.attributes}
      aria-label=${t("edit-message")}
      readonly=${busy}
      onInput=${writing.typed}
      onKeyDown=${pressed}
    ></textarea>
    <p>
      <${Button} look="primary" disabled=${busy} onClick=${save}>${t("save")}<//>
      <${Button} onClick=${end}>${t("cancel")}<//>
      ${problem && html`<span class="error" role="alert">${problem}</span>`}
    </p>
  </div>`;
}
