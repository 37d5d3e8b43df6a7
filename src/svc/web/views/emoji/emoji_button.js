// A button next to a field that opens the emoji picker.

/** @import { RefObject } from "../../vendor/preact.js" */

import { html, useRef, useState } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { IconButton } from "../parts/button.js";
import { EmojiPopup } from "./emoji_popup.js";

/**
 * `onChoose` gets a character or `:name:`.
 * @param {{disabled: boolean, onChoose: (sign: string) => void}} props
 */
export function EmojiButton({ disabled, onChoose }) {
  /** @type {RefObject<HTMLElement>} */
  const button = useRef(null);
  const [open, setOpen] = useState(false);
  const choose = (/** @type {string} */ sign) => {
    setOpen(false);
    onChoose(sign);
  };
  return html`
    <span ref=${button}>
      <${IconButton}
        icon="emoji"
        label=${t("emoji-choose")}
        disabled=${disabled}
        aria-expanded=${open}
        onClick=${() => setOpen(!open)}
      />
    </span>
    ${open && html`<${EmojiPopup} anchor=${button} onChoose=${choose} onClose=${() => setOpen(false)} />`}
  `;
}
