// Renders a private conversation's call above its messages: the stage with an encryption indicator, or the
// join button.

/** @import { PrivateConversation } from "../../state/private_conversations.js" */

import {
  callChannel,
  callTrouble,
  shownCallState,
  soundBlocked,
  unblockSound,
} from "../../call/current_call.js";
import { participants } from "../../call/participants.js";
import { callConversation } from "../../call/private_calls.js";
import { showDialog } from "../../state/navigation.js";
import { calledConversation, callWords } from "../../state/private_calls.js";
import { participantsIn } from "../../state/voice.js";
import { html } from "../../vendor/preact.js";
import { formatList, t } from "../../words/words.js";
import { Controls } from "../call/controls.js";
import { Stage } from "../call/stage.js";
import { Button } from "../parts/button.js";
import { Icon } from "../parts/icon.js";

/** @param {{conversation: PrivateConversation}} props */
export function ConversationCall({ conversation }) {
  if (callChannel.value === conversation.id) return html`<${Going} conversation=${conversation} />`;
  const names = participantsIn(conversation.id).map(({ nickname }) => nickname);
  return (
    names.length > 0 &&
    html`<p class="talk-call-way">
      <span dir="auto">${t("are-here", { names: formatList(names), count: names.length })}</span>
      <${Button} look="primary" icon="call" onClick=${() => callConversation(conversation.id)}>
        ${t("join-call")}
      <//>
    </p>`
  );
}

/** @param {{conversation: PrivateConversation}} props */
function Going({ conversation }) {
  const state = calledConversation.value === conversation.id ? "ringing" : shownCallState.value;
  return html`<section class="talk-call call" aria-label=${t("your-call")} data-state=${state}>
    <p class="talk-call-signs">
      <span id="call-state" class="pill" role="status">
        ${callWords(conversation.id, shownCallState.value)}
      </span>
      <button
        id="sealed"
        type="button"
        onClick=${() => showDialog("private-number", { conversationId: conversation.id })}
      >
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
    <${Stage} people=${participants()} />
    <${Controls} />
  </section>`;
}
