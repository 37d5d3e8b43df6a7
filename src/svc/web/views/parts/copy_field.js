// Shows a read-only field with a copy button.

import { notify } from "../../state/notices.js";
import { html, useId } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { Button } from "./button.js";

/**
 * Copy text to the clipboard, then show the notice `done`. @param {string} text
 * @param {string} [done]
 */
export function copy(text, done = t("copied")) {
  return navigator.clipboard.writeText(text).then(
    () => notify(done, "done"),
    () => notify(t("copy-failed")),
  );
}

/** @param {{label: string, text: string, done?: string}} props */
export function Copyable({ label, text, done }) {
  const id = useId();
  return html`<div class="copyable field">
    <label for=${id}>${label}</label>
    <div>
      <input
        id=${id}
        readonly
        value=${text}
        dir="ltr"
        onFocus=${(/** @type {EventOn<HTMLInputElement>} */ event) => event.currentTarget.select()}
      />
      <${Button} icon="copy" onClick=${() => copy(text, done)}>${t("copy")}<//>
    </div>
  </div>`;
}
