// A message written anew, in its place.

import { acts } from "../../state/conversation.js";
import { html, useLayoutEffect, useRef, useState } from "../../vendor/preact.js";
import { explain, t } from "../../words/words.js";
import { Button } from "../parts/button.js";
import { grow } from "../composer/grow.js";

export function Editor({ message, onDone }) {
  const field = useRef(null);
  const [text, setText] = useState(message.text);
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  useLayoutEffect(() => {
    field.current.focus();
    field.current.setSelectionRange(text.length, text.length);
    grow(field.current);
  }, []);
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
  const pressed = (event) => {
    if (event.isComposing) return;
    if (event.key === "Escape") {
      event.preventDefault();
      onDone();
    } else if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      save();
    }
  };
  const typed = (event) => {
    setText(event.currentTarget.value);
    grow(event.currentTarget);
  };
  return html`<div class="editor">
    <textarea ref=${field} dir="auto" aria-label=${t("edit-message")} maxlength="4000" rows="1" value=${text} readonly=${busy} onInput=${typed} onKeyDown=${pressed}></textarea>
    <p><${Button} look="primary" disabled=${busy} onClick=${save}>${t("save")}<//><${Button} onClick=${onDone}>${t("cancel")}<//>
      ${problem && html`<span class="error" role="alert">${problem}</span>`}</p>
  </div>`;
}
