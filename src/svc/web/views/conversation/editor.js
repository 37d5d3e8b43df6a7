// A message written anew, in its place.

/** @import { Names } from "../../state/shortened.js" */
/** @import { RefObject } from "../../vendor/preact.js" */
/** @import { Shown } from "./message.js" */

import { acts } from "../../state/conversation.js";
import { restored, shortened } from "../../state/shortened.js";
import { html, useLayoutEffect, useRef, useState } from "../../vendor/preact.js";
import { explain, t } from "../../words/words.js";
import { CompletionList, useCompletion } from "../composer/completion_list.js";
import { grow } from "../composer/grow.js";
import { Button } from "../parts/button.js";

/** @param {{message: Shown, onDone: () => void}} props */
export function Editor({ message, onDone }) {
  /** @type {RefObject<HTMLTextAreaElement>} */
  const field = useRef(null);
  const [text, setText] = useState(message.text);
  const [names] = useState(() => /** @type {Names} */ (new Map()));
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  useLayoutEffect(() => {
    field.current.focus();
    field.current.setSelectionRange(field.current.value.length, field.current.value.length);
    grow(field.current);
  }, []);
  const put = (/** @type {string} */ now, /** @type {number} */ caret) => {
    const short = (/** @type {string} */ part) => shortened(restored(part, names), names);
    field.current.value = short(now);
    field.current.setSelectionRange(short(now.slice(0, caret)).length, short(now.slice(0, caret)).length);
    setText(restored(now, names));
    grow(field.current);
  };
  const completion = useCompletion(field, message.channel_id, names, put);
  const save = async () => {
    setBusy(true);
    try {
      if (text !== message.text) await acts.edit(message, text);
      onDone();
    } catch (error) {
      setProblem(explain(error));
      setBusy(false);
    }
  };
  const pressed = (/** @type {KeyboardEvent} */ event) => {
    if (event.isComposing || completion.onKey(event)) return;
    if (event.key === "Escape") {
      event.preventDefault();
      onDone();
    } else if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      save();
    }
  };
  const typed = (/** @type {EventOn<HTMLTextAreaElement>} */ event) => {
    setText(restored(event.currentTarget.value, names));
    grow(event.currentTarget);
    completion.look();
  };
  const offered = completion.list.length > 0;
  return html`<div class="editor">
    <${CompletionList} completion=${completion} />
    <textarea ref=${field} dir="auto" aria-label=${t("edit-message")} maxlength="4000" rows="1" value=${shortened(text, names)} readonly=${busy}
      aria-haspopup="listbox" aria-autocomplete="list" aria-controls=${offered ? completion.id : undefined} aria-activedescendant=${offered ? `${completion.id}-at` : undefined}
      onInput=${typed} onClick=${completion.look} onBlur=${completion.close} onKeyDown=${pressed}></textarea>
    <p><${Button} look="primary" disabled=${busy} onClick=${save}>${t("save")}<//><${Button} onClick=${onDone}>${t("cancel")}<//>
      ${problem && html`<span class="error" role="alert">${problem}</span>`}</p>
  </div>`;
}
