// Lists the audience of a stage channel, which consists of the members who may not speak. Members with raised
// hands come first.

/** @import { Person } from "../../call/participants.js" */

import { callChannel } from "../../call/current_call.js";
import { letSpeak, mayLetSpeak } from "../../state/admin/channels.js";
import { raisedHands } from "../../state/hands_and_reactions.js";
import { showDialog } from "../../state/navigation.js";
import { tryOrNotify } from "../../state/notices.js";
import { memberOf } from "../../state/people.js";
import { html } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { Marks } from "../channels/voice_people.js";
import { Avatar } from "../parts/avatar.js";
import { Button } from "../parts/button.js";

/**
 * Return whether a member is in the audience. Members with video have a tile instead.
 * @param {Person} person
 */
export const listens = ({ may_speak: speaks, camera, screen, unwatched }) =>
  speaks === false && !camera && !screen && !unwatched;

/** @param {{people: Person[]}} props */
export function Audience({ people }) {
  const hands = raisedHands(people);
  const shown = [...hands, ...people.filter((person) => !hands.includes(person))];
  const title = t("audience", { count: people.length });
  return html`<section id="audience" aria-label=${title}>
    <h2>${title}</h2>
    <ul>${shown.map((person) => html`<${Listener} key=${person.id} person=${person} />`)}</ul>
  </section>`;
}

/** @param {{person: Person}} props */
function Listener({ person }) {
  const { id, nickname, own } = person;
  const member = memberOf(id);
  const channelId = callChannel.value ?? "";
  const face = html`<${Avatar} id=${id} name=${nickname} url=${member?.avatar} size="small" />
    <span class="name one-line" dir="auto">${own ? t("name-you", { name: nickname }) : nickname}</span>
    <${Marks} person=${person} />`;
  return html`<li data-id=${id}>
    ${
      own
        ? html`<span class="listener">${face}</span>`
        : html`<button
            type="button"
            class="listener"
            onClick=${() => showDialog("callPerson", { memberId: id })}
          >
            ${face}
          </button>`
    }
    ${
      mayLetSpeak(id, channelId) &&
      html`<${Button} class="invite-to-speak" onClick=${() => tryOrNotify(letSpeak(id, channelId, true))}>
        ${t("invite-to-speak")}<span class="unseen" dir="auto"> ${nickname}</span>
      <//>`
    }
  </li>`;
}
