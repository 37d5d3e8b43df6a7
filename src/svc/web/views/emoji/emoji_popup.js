// Renders a button that opens the emoji picker as a popup next to it. The picker's code is loaded on first
// use.

/** @import { RefObject } from "../../vendor/preact.js" */

import { emoji } from "../../state/emoji.js";
import { html, useLayoutEffect, useRef, useState } from "../../vendor/preact.js";
import { IconButton } from "../parts/button.js";
import { useRestoredFocus } from "../parts/focus.js";
import { Lazy } from "../parts/lazy_component.js";
import { positionNextTo, useLayer } from "../parts/menu.js";
import { t } from "../../words/words.js";

const EmojiPicker = Lazy(() => import("./picker.js"), "EmojiPicker");
const SIZE = { width: 384, height: 450 }; // The approximate size, for placing the picker before it renders.

/**
 * `onChoose` receives a character or `:name:`.
 * @param {{anchor: RefObject<HTMLElement>, onChoose: (sign: string) => void, onClose: () => void}} props
 */
export function EmojiPopup({ anchor, onChoose, onClose }) {
  /** @type {RefObject<HTMLElement>} */
  const popup = useRef(null);
  useLayer(onClose);
  useRestoredFocus(popup);
  useLayoutEffect(() => {
    popup.current.showPopover();
    positionNextTo(popup.current, anchor.current, SIZE);
  }, []);
  return html`<div class="emoji-popup" popover="manual" ref=${popup}>
    <${EmojiPicker} serverEmoji=${emoji.value} onChoose=${onChoose} onClose=${onClose} />
  </div>`;
}

/**
 * `onChoose` receives a character or `:name:`.
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
