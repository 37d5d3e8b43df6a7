// The roles and people who see a private channel, as chips.

import { html } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { Chips, Pick } from "./parts/picker.js";

/** @param {{keys: string[], onAdd: (key: string) => void, onRemove: (key: string) => void}} props */
export function PrivateTo({ keys, onAdd, onRemove }) {
  return html`<div class="stack private-to">
    <${Pick} label=${t("let-in")} chosen=${keys} onPick=${onAdd} />
    ${
      keys.length
        ? html`<${Chips} label=${t("those-let-in")} keys=${keys} onRemove=${onRemove} />`
        : html`<p class="quiet">${t("nobody-let-in")}</p>`
    }
  </div>`;
}
