// Renders the stage, with a tile for every participant and every shared screen. The pinned tile, a shared
// screen or the speaker's tile is enlarged.

/** @import { Person } from "../../call/participants.js" */
/** @import { ComponentChildren, RefObject } from "../../vendor/preact.js" */

import { callChannel, speakers } from "../../call/current_call.js";
import { arranged, focused, mode, onlySound, pinned, tilePx } from "../../state/call_layout.js";
import { hasPermission } from "../../state/channels.js";
import { pictureWidth, tileSizes } from "../../state/tile_layout.js";
import { showDialog } from "../../state/navigation.js";
import { calledConversation } from "../../state/private_calls.js";
import { nameOf, conversationsById } from "../../state/private_conversations.js";
import { member } from "../../state/server.js";
import { html, useComputed, useLayoutEffect, useRef } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { Button } from "../parts/button.js";
import { Audience, listens } from "./audience.js";
import { FloatingReactions, Hands } from "./hands_and_reactions.js";
import { PersonTile, ScreenTile } from "./tile.js";

/** @param {{people: Person[]}} props */
export function Stage({ people }) {
  const conversation = conversationsById.value.get(callChannel.value ?? "");
  const lastSpeaker = useRef(/** @type {string | null} */ (null));
  const speaker = useComputed(() => speakers.value.find((id) => id !== member.value?.id) ?? null).value;
  if (speaker) lastSpeaker.current = speaker;
  const shown = onlySound.value
    ? people.map((person) => (person.own ? person : { ...person, camera: null }))
    : people;
  const audience = shown.filter(listens);
  const { large, small } = arranged(audience.length ? shown.filter((person) => !listens(person)) : shown, {
    mode: mode.value,
    pinned: pinned.value,
    speaker: lastSpeaker.current,
  });
  useLayoutEffect(() => {
    focused.value = large;
  }, [String(large)]);
  const isScreens = large.every((key) => key.startsWith("screen "));
  const tile = (/** @type {string} */ key) => {
    const [kind, id] = key.split(" ");
    const person = shown.find((person) => person.id === id);
    return kind === "screen"
      ? html`<${ScreenTile} key=${key} person=${person} />`
      : html`<${PersonTile} key=${key} person=${person} />`;
  };
  return html`
    <${Hands} people=${people} />
    <section id="stage" class=${large.length ? "presenting" : ""} aria-label=${t("people-in-room")}>
      ${
        large.length > 0 &&
        html`<${Tiles} id="screens" label=${t("in-focus")} isScreens=${isScreens}>${large.map(tile)}<//>`
      }
      ${
        audience.length === shown.length
          ? html`<p class="quiet nobody-speaks">${t("stage-empty")}</p>`
          : html`<${Tiles} id="people" label=${t("people")}>${small.map(tile)}<//>`
      }
      <${FloatingReactions} />
    </section>
    ${
      people.length === 1 &&
      conversation &&
      html`<p class="quiet alone" dir="auto">
        ${
          calledConversation.value === conversation.id
            ? t("private-call-waiting", { names: nameOf(conversation) })
            : t("private-call-alone")
        }
      </p>`
    }
    ${
      people.length === 1 &&
      !conversation &&
      html`<p class="quiet alone">
        ${t("alone-in-call")} ${
          hasPermission("create_invites") &&
          html`<${Button} look="link" onClick=${() => showDialog("invite")}>${t("invite-people")}<//>`
        }
      </p>`
    }
    ${audience.length > 0 && html`<${Audience} people=${audience} />`}
  `;
}

/**
 * A list that makes its tiles as large as possible.
 * @param {{id: string, label: string, isScreens?: boolean, children: ComponentChildren[]}} props
 */
function Tiles({ id, label, isScreens = false, children }) {
  /** @type {RefObject<HTMLElement>} */
  const list = useRef(null);
  const count = children.length;
  useLayoutEffect(() => {
    const fit = () => {
      const { clientWidth, clientHeight } = list.current;
      if (!clientWidth) return;
      const tile = tileSizes(count, clientWidth, clientHeight, isScreens);
      for (const [name, px] of Object.entries(tile)) list.current.style.setProperty(`--${name}`, `${px}px`);
      // Ignore the tiles in the pop-out window, which can be arbitrarily small.
      if (id === "people" && list.current.ownerDocument === document) tilePx.value = pictureWidth(tile);
    };
    const observer = new ResizeObserver(fit);
    observer.observe(list.current);
    fit();
    return () => observer.disconnect();
  }, [count, isScreens]);
  return html`<ul id=${id} class="tiles" aria-label=${label} ref=${list}>${children}</ul>`;
}
