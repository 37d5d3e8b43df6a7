// Renders the reactions below a message.

/** @import { Reactions as All } from "../../state/conversation.js" */
/** @import { Held, Shown } from "./message.js" */

import { acts } from "../../state/message_actions.js";
import { emoji } from "../../state/emoji.js";
import { tryOrNotify } from "../../state/notices.js";
import { memberOf } from "../../state/people.js";
import { showDialog } from "../../state/navigation.js";
import { member } from "../../state/server.js";
import { html, useState } from "../../vendor/preact.js";
import { formatList, t } from "../../words/words.js";

const MAX_NAMED = 12;

/**
 * The reactions to a message. A right-click, a long press or the menu key shows who reacted.
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
  // Names are fetched only when the user wants to see them.
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

/** A standard emoji, or a custom emoji given as :name:. @param {{sign: string}} props */
export function Sign({ sign }) {
  const serverEmoji = emoji.value.get(sign.slice(1, -1));
  return serverEmoji && sign.startsWith(":")
    ? html`<img class="emoji" src=${serverEmoji.url} alt=${sign} />`
    : html`<span class="emoji">${sign}</span>`;
}
