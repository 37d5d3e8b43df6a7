// Shows the raised hands in a call in the order in which they were raised, the reactions that float over the
// stage, and the button for raising a hand or reacting.

/** @import { Person } from "../../call/participants.js" */
/** @import { RefObject } from "../../vendor/preact.js" */

import { callChannel, ownHand, toggleHand } from "../../call/current_call.js";
import { mayInCall } from "../../state/channels.js";
import { raisedHands, react, reactions } from "../../state/hands_and_reactions.js";
import { lowerHandOf } from "../../state/admin/moderation.js";
import { tryOrNotify } from "../../state/notices.js";
import { memberOf } from "../../state/people.js";
import { html, useEffect, useLayoutEffect, useRef, useState } from "../../vendor/preact.js";
import { formatList, t } from "../../words/words.js";
import { Sign } from "../conversation/reactions.js";
import { EmojiPopup } from "../emoji/emoji_popup.js";
import { Button, IconButton } from "../parts/button.js";
import { Icon } from "../parts/icon.js";
import { positionNextTo } from "../parts/menu.js";

const DEFAULT_REACTIONS = ["👍", "👏", "❤️", "😂", "🎉", "😮", "🤔", "👋"];

/**
 * The raised hands in order, on one line above the stage. Moderators can lower a hand by clicking the
 * member's name.
 * @param {{people: Person[]}} props
 */
export function Hands({ people }) {
  const hands = raisedHands(people);
  const channelId = callChannel.value ?? "";
  const moderates = mayInCall("mute_members", channelId);
  const nameOf = (/** @type {Person} */ { nickname, own }) =>
    own ? t("name-you", { name: nickname }) : nickname;
  return html`<div class="hands" role="status">
    ${
      hands.length > 0 &&
      html`<span class="pill">
        <${Icon} name="hand" />
        <span class="unseen">${t("raised-hands")}</span>
        ${
          moderates
            ? hands.map(
                (person) =>
                  html`<${Button}
                    key=${person.id}
                    icon="close"
                    title=${t("lower-hand")}
                    aria-label=${t("lower-hand-of", { name: person.nickname })}
                    onClick=${() => tryOrNotify(lowerHandOf(person.id, channelId))}
                  >
                    <span dir="auto">${nameOf(person)}</span>
                  <//>`,
              )
            : html`<span dir="auto">${formatList(hands.map(nameOf))}</span>`
        }
      </span>`
    }
  </div>`;
}

/** Reactions that float up from the bottom of the stage. */
export function FloatingReactions() {
  const visible = reactions.value.filter(({ channelId }) => channelId === callChannel.value);
  return html`<div class="floating" role="group" aria-live="polite" aria-label=${t("reactions")}>
    ${visible.map(
      ({ key, memberId, emoji }) => html`<span class="floats" key=${key} style=${{ "--lane": key % 5 }}>
        <${Sign} sign=${emoji} />
        <span class="name" dir="auto">${memberOf(memberId)?.nickname ?? t("somebody")}</span>
      </span>`,
    )}
  </div>`;
}

/** The button that opens the popup for raising a hand and reacting. */
export function GestureControl() {
  const [open, setOpen] = useState(false);
  // The audience of a stage channel has a separate button for raising a hand.
  const showsHand = ownHand() && mayInCall("speak", callChannel.value ?? "");
  /** @type {RefObject<HTMLElement>} */
  const holder = useRef(null);
  const close = () => {
    setOpen(false);
    holder.current.querySelector("button")?.focus();
  };
  return html`<span class="menu-holder" ref=${holder}>
    <button
      id="gesture"
      type="button"
      class=${`control ${showsHand ? "on" : ""}`}
      aria-haspopup="dialog"
      aria-expanded=${open}
      onClick=${() => setOpen(!open)}
    >
      <${Icon} name=${showsHand ? "hand" : "emoji"} />
      <span>${t("react")}</span>
    </button>
    ${open && html`<${Gestures} holder=${holder} onClose=${close} onLeave=${() => setOpen(false)} />`}
  </span>`;
}

/**
 * The popup stays open, because members often react more than once.
 * @param {{holder: RefObject<HTMLElement>, onClose: () => void, onLeave: () => void}} props
 */
function Gestures({ holder, onClose, onLeave }) {
  /** @type {RefObject<HTMLElement>} */
  const box = useRef(null);
  const more = useRef(null);
  const [all, setAll] = useState(false);
  const channelId = callChannel.value ?? "";
  useLayoutEffect(() => {
    box.current.showPopover();
    positionNextTo(box.current, holder.current);
    box.current.querySelector("button")?.focus();
  }, []);
  useEffect(() => {
    const elsewhere = (/** @type {Event} */ event) => {
      if (!holder.current?.contains(/** @type {Node} */ (event.target))) onLeave();
    };
    document.addEventListener("pointerdown", elsewhere);
    return () => document.removeEventListener("pointerdown", elsewhere);
  }, []);
  const pressed = (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== "Escape" || event.defaultPrevented) return;
    event.preventDefault();
    event.stopPropagation();
    onClose();
  };
  const choose = (/** @type {string} */ emoji) => tryOrNotify(react(channelId, emoji));
  return html`<div
    class="menu gestures"
    popover="manual"
    role="dialog"
    aria-label=${t("react")}
    ref=${box}
    onKeyDown=${pressed}
  >
    <${Button}
      icon="hand"
      aria-pressed=${ownHand()}
      onClick=${() => {
        toggleHand();
        onClose();
      }}
    >
      ${ownHand() ? t("lower-hand") : t("raise-hand")}
    <//>
    ${
      mayInCall("add_reactions", channelId) &&
      html`<div class="signs" role="group" aria-label=${t("react-with")}>
        ${DEFAULT_REACTIONS.map(
          (sign) =>
            html`<button type="button" key=${sign} aria-label=${sign} onClick=${() => choose(sign)}>
              <${Sign} sign=${sign} />
            </button>`,
        )}
        <span ref=${more}>
          <${IconButton}
            icon="add"
            label=${t("emoji-more")}
            aria-expanded=${all}
            onClick=${() => setAll(!all)}
          />
        </span>
      </div>`
    }
    ${
      all &&
      html`<${EmojiPopup}
        anchor=${more}
        onChoose=${(/** @type {string} */ sign) => {
          choose(sign);
          setAll(false);
        }}
        onClose=${() => setAll(false)}
      />`
    }
  </div>`;
}
