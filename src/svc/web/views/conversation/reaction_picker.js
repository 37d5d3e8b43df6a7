// Selects a message's quick reactions, and renders the picker for other reactions.

/** @import { Reactions as All } from "../../state/conversation.js" */
/** @import { RefObject } from "../../vendor/preact.js" */
/** @import { Shown } from "./message.js" */

import { acts } from "../../state/message_actions.js";
import { emoji } from "../../state/emoji.js";
import { tryOrNotify } from "../../state/notices.js";
import { member } from "../../state/server.js";
import { html, useLayoutEffect, useRef, useState } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { EmojiPopup } from "../emoji/emoji_popup.js";
import { remembered, used } from "../emoji/recent_emoji.js";
import { IconButton } from "../parts/button.js";
import { useRestoredFocus } from "../parts/focus.js";
import { useLayer } from "../parts/menu.js";
import { Sign } from "./reactions.js";

const DEFAULT_REACTIONS = ["👍", "❤️", "😂", "🎉", "😮", "😢", "👀", "✅"];
const MAX_OWN = 40; // The maximum number of custom emoji.
const QUICK_REACTIONS = 3; // The number of quick reactions next to the message's other buttons.

/** Return the recently used emoji followed by the default reactions, limited to the number of defaults. */
const recent = () =>
  [...new Set([...remembered.value.recent, ...DEFAULT_REACTIONS])].slice(0, DEFAULT_REACTIONS.length);

/**
 * Return the quick reactions: a few recently used emoji or, if `count` is given, up to that many recently
 * used emoji and default reactions.
 * @param {Shown} message
 * @param {All} reactions
 * @param {number} [count]
 */
export function quickOf(message, reactions, count) {
  const known = (/** @type {string} */ sign) => !sign.startsWith(":") || emoji.value.has(sign.slice(1, -1));
  return (count ? recent() : remembered.value.recent)
    .filter(known)
    .slice(0, count ?? QUICK_REACTIONS)
    .map((sign) => {
      const own = reactions.some(
        ({ emoji: other, member_ids: ids }) => other === sign && ids.includes(member.value?.id ?? ""),
      );
      return {
        sign,
        own,
        label: t("react-with-sign", { sign }),
        press: () => tryOrNotify(acts.react(message, sign, !own)),
      };
    });
}

/** A row of emoji to react with. @param {{onChoose: (sign: string) => void, onClose: () => void}} props */
export function Picker({ onChoose, onClose }) {
  /** @type {[RefObject<HTMLElement>, RefObject<HTMLElement>]} */
  const [row, more] = [useRef(null), useRef(null)];
  const [all, setAll] = useState(false);
  useRestoredFocus(row);
  useLayer(onClose);
  useLayoutEffect(() => {
    // Below the newest message, part of the picker would be outside the visible area.
    row.current.scrollIntoView({ block: "nearest" });
    row.current.querySelector("button")?.focus();
    const elsewhere = (/** @type {Event} */ event) => {
      if (!row.current?.parentElement?.contains(/** @type {Node} */ (event.target))) onClose();
    };
    document.addEventListener("pointerdown", elsewhere);
    return () => document.removeEventListener("pointerdown", elsewhere);
  }, []);
  const own = [...emoji.value.keys()].slice(0, MAX_OWN).map((name) => `:${name}:`);
  const choose = (/** @type {string} */ sign) => {
    used(sign);
    onChoose(sign);
    onClose();
  };
  const pressed = (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== "Escape") return;
    event.preventDefault();
    onClose();
  };
  return html`<div class="picker" role="group" aria-label=${t("react-with")} ref=${row} onKeyDown=${pressed}>
    ${[...recent(), ...own].map(
      (sign) =>
        html`<button type="button" key=${sign} aria-label=${sign} onClick=${() => choose(sign)}>
          <${Sign} sign=${sign} />
        </button>`,
    )}
    <span ref=${more}>
      <${IconButton} icon="add" label=${t("emoji-more")} aria-expanded=${all} onClick=${() => setAll(!all)} />
    </span>
    ${all && html`<${EmojiPopup} anchor=${more} onChoose=${choose} onClose=${onClose} />`}
  </div>`;
}
