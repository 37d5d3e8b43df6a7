// The emoji picker as a popup next to its button. Loaded on first use.

/** @import { RefObject } from "../../vendor/preact.js" */

import { emoji } from "../../state/emoji.js";
import { html, useLayoutEffect, useRef } from "../../vendor/preact.js";
import { useFocusBack } from "../parts/focus.js";
import { Later } from "../parts/later.js";
import { useLayer } from "../parts/layer.js";
import { beside } from "../parts/menu.js";

const EmojiPicker = Later(() => import("./picker.js"), "EmojiPicker");
const SIZE = { width: 384, height: 450 }; // Its approximate size, needed to place it before it is drawn.

/**
 * `onChoose` gets a character or `:name:`.
 * @param {{anchor: RefObject<HTMLElement>, onChoose: (sign: string) => void, onClose: () => void}} props
 */
export function EmojiPopup({ anchor, onChoose, onClose }) {
  /** @type {RefObject<HTMLElement>} */
  const popup = useRef(null);
  useLayer(onClose);
  useFocusBack(popup);
  useLayoutEffect(() => {
    popup.current.showPopover();
    beside(popup.current, anchor.current, SIZE);
  }, []);
  return html`<div class="emoji-popup" popover="manual" ref=${popup}>
    <${EmojiPicker} serverEmoji=${emoji.value} onChoose=${onChoose} onClose=${onClose} />
  </div>`;
}
