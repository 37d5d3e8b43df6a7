// A confirmation before a large deletion: type the name to confirm.

import { html, useState } from "../../../vendor/preact.js";
import { t } from "../../../words/words.js";
import { Button } from "../../parts/button.js";
import { Dialog } from "../../parts/dialog.js";
import { Field } from "../../parts/field.js";
import { useFormRequest } from "./form_request.js";

/**
 * @param {{title: string, text: string, name: string, action: string, onConfirm: () => unknown, onClose: ()
 *   => void}} props
 */
export function TypedConfirm({ title, text, name, action, onConfirm, onClose }) {
  const [typed, setTyped] = useState("");
  const { busy, problem, run } = useFormRequest();
  const submit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    if (typed.trim() === name && (await run(onConfirm))) onClose();
  };
  return html`<${Dialog} title=${title} onClose=${onClose} class="confirm">
    <p dir="auto">${text}</p>
    <form class="stack" onSubmit=${submit}>
      <${Field}
        label=${t("type-its-name", { name })}
        value=${typed}
        onInput=${(/** @type {EventOn<HTMLInputElement>} */ event) => setTyped(event.currentTarget.value)}
        problem=${problem}
        autocomplete="off"
        spellcheck=${false}
        autofocus
      />
      <footer class="buttons">
        <${Button} onClick=${onClose}>${t("cancel")}<//>
        <${Button} look="danger" type="submit" disabled=${busy || typed.trim() !== name}>${action}<//>
      </footer>
    </form>
  <//>`;
}
