// The call of a private conversation, above its messages: the stage with a sign that the call is private, or
// the join button.

/** @import { Talk } from "../../state/private_talks.js" */

import { callChannel, callState, callTrouble, soundBlocked, unblockSound } from "../../call/current_call.js";
import { peopleHere } from "../../call/participants.js";
import { callTalk } from "../../call/private_calls.js";
import { showDialog } from "../../state/navigation.js";
import { calledTalk, callWords } from "../../state/private_calls.js";
import { peopleIn } from "../../state/voice.js";
import { html } from "../../vendor/preact.js";
import { listed, t } from "../../words/words.js";
import { Controls } from "../call/controls.js";
import { Stage } from "../call/stage.js";
import { Button } from "../parts/button.js";
import { Icon } from "../parts/icon.js";

/** @param {{talk: Talk}} props */
export function TalkCall({ talk }) {
  if (callChannel.value === talk.id) return html`<${Going} talk=${talk} />`;
  const names = peopleIn(talk.id).map(({ nickname }) => nickname);
  return (
    names.length > 0 &&
    html`<p class="talk-call-way">
      <span dir="auto">${t("are-here", { names: listed(names), count: names.length })}</span>
      <${Button} look="primary" icon="call" onClick=${() => callTalk(talk.id)}>${t("join-call")}<//>
    </p>`
  );
}

/** @param {{talk: Talk}} props */
function Going({ talk }) {
  return html`<section class="talk-call call" aria-label=${t("your-call")}>
    <p class="talk-call-signs">
      <span
        id="call-state"
        class="pill"
        role="status"
        data-state=${calledTalk.value === talk.id ? "ringing" : callState.value}
      >
        ${callWords(talk.id, callState.value)}
      </span>
      <button id="sealed" type="button" onClick=${() => showDialog("private-number", { talkId: talk.id })}>
        <${Icon} name="lock" />${t("private-call-sealed")}
      </button>
    </p>
    ${callTrouble.value && html`<p id="call-trouble" class="trouble" role="alert">${callTrouble.value}</p>`}
    ${
      soundBlocked.value &&
      html`<button id="unblock" type="button" class="notice" onClick=${unblockSound}>
        ${t("sound-blocked")}
      </button>`
    }
    <${Stage} people=${peopleHere()} />
    <${Controls} />
  </section>`;
}
