// The reactions below a message, and the choice of emoji.

/** @import { Reactions as All } from "../../state/conversation.js" */
/** @import { RefObject } from "../../vendor/preact.js" */
/** @import { Held, Shown } from "./message.js" */

import { acts } from "../../state/message_actions.js";
import { emoji } from "../../state/emoji.js";
import { tryOrNotify } from "../../state/notices.js";
import { memberOf } from "../../state/people.js";
import { showDialog } from "../../state/navigation.js";
import { member } from "../../state/server.js";
import { html, useLayoutEffect, useRef, useState } from "../../vendor/preact.js";
import { formatList, t } from "../../words/words.js";
import { EmojiPopup } from "../emoji/emoji_popup.js";
import { remembered, used } from "../emoji/recent_emoji.js";
import { IconButton } from "../parts/button.js";
import { useRestoredFocus } from "../parts/focus.js";
import { useLayer } from "../parts/menu.js";

const DEFAULT_REACTIONS = ["👍", "❤️", "😂", "🎉", "😮", "😢", "👀", "✅"];
const MAX_OWN = 40; // The maximum number of server emoji.
const MAX_NAMED = 12;
const QUICK_REACTIONS = 3; // The number of quick reactions beside the message's other buttons.

/** Return the usual emoji, recently used first. */
const recent = () =>
  [...new Set([...remembered.value.recent, ...DEFAULT_REACTIONS])].slice(0, DEFAULT_REACTIONS.length);

/**
 * A right-click, a long press or the menu key shows who reacted.
 * @param {{message: Shown, reactions: All, conversation: Held, canReact: boolean}} props
 */
export function Reactions({ message, reactions, conversation, canReact }) {
  if (!reactions.length) return null;
  const showReactors = (/** @type {Event} */ event) => {
    event.preventDefault();
    event.stopPropagation();
    showDialog("reacted", { message, conversation });
  };
  return html`<ul class="reactions" aria-label=${t("reactions")} onContextMenu=${showReactors}>
    ${reactions.map(
      (reaction) =>
        html`<${Reaction}
          key=${reaction.emoji}
          message=${message}
          reaction=${reaction}
          canReact=${canReact}
        />`,
    )}
  </ul>`;
}

/** @param {{message: Shown, reaction: All[number], canReact: boolean}} props */
function Reaction({ message, reaction, canReact }) {
  const { emoji: sign, member_ids: ids } = reaction;
  const own = ids.includes(member.value?.id ?? "");
  // Names are fetched only when the member asks to see them.
  const [showsNames, setShowsNames] = useState(false);
  const who = () => {
    const names = ids.slice(0, MAX_NAMED).map((id) => memberOf(id)?.nickname ?? t("somebody"));
    return formatList(
      ids.length > MAX_NAMED ? [...names, t("others", { count: ids.length - MAX_NAMED })] : names,
    );
  };
  const ask = () => setShowsNames(true);
  return html`<li>
    <button
      type="button"
      class="reaction"
      aria-disabled=${!canReact}
      aria-pressed=${own}
      title=${showsNames ? who() : undefined}
      onMouseEnter=${ask}
      onFocus=${ask}
      onClick=${() => canReact && tryOrNotify(acts.react(message, sign, !own))}
    >
      <${Sign} sign=${sign} /> <span aria-hidden="true">${ids.length}</span>
      <span class="unseen">${t("reaction-count", { count: ids.length })}</span>
    </button>
  </li>`;
}

/** A standard emoji, or one of the server's own emoji, given as :name:. @param {{sign: string}} props */
export function Sign({ sign }) {
  const serverEmoji = emoji.value.get(sign.slice(1, -1));
  return serverEmoji && sign.startsWith(":")
    ? html`<img class="emoji" src=${serverEmoji.url} alt=${sign} />`
    : html`<span class="emoji">${sign}</span>`;
}

/**
 * Return the quick reactions: the recently used emoji, or `count` emoji, padded with the usual ones.
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
    // On the newest message, the picker would extend below the visible area.
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
