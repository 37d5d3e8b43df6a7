// Shows a bar with the call's channel and its most-used buttons while another channel is open.

import {
  callChannel,
  callTrouble,
  deafened,
  leaveCall,
  sending,
  shownCallState,
  toggleDeafened,
  toggleMic,
} from "../../call/current_call.js";
import { channelsById, mayInCall } from "../../state/channels.js";
import { open, openConversation, currentLocation } from "../../state/navigation.js";
import { callWords } from "../../state/private_calls.js";
import { nameOf, conversationsById } from "../../state/private_conversations.js";
import { html } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { IconButton } from "../parts/button.js";

/** Return the call's channel, or null if there is no call or its channel is open. */
export function callElsewhere() {
  const id = callChannel.value;
  return currentLocation.value?.channelId === id || currentLocation.value?.conversationId === id ? null : id;
}

export function CallBar() {
  const id = callElsewhere();
  if (!id) return null;
  const conversation = conversationsById.value.get(id);
  const { mic } = sending.value;
  return html`<section class="call-bar" aria-label=${t("your-call")}>
    <button type="button" class="where" onClick=${() => (conversation ? openConversation(id) : open(id))}>
      <strong>${callWords(id, shownCallState.value)}</strong>
      <span dir="auto">${conversation ? nameOf(conversation) : channelsById.value.get(id)?.name}</span>
    </button>
    ${
      mayInCall("speak", id) &&
      html`<${IconButton}
        icon=${mic ? "mic" : "mic-off"}
        label=${mic ? t("mute") : t("unmute")}
        class=${mic ? "" : "off"}
        onClick=${toggleMic}
      />`
    }
    <${IconButton}
      icon=${deafened.value ? "deafen" : "headphones"}
      label=${deafened.value ? t("undeafen") : t("deafen")}
      class=${deafened.value ? "off" : ""}
      onClick=${toggleDeafened}
    />
    <${IconButton} icon="leave" label=${t("leave-call")} class="danger" onClick=${leaveCall} />
    ${callTrouble.value && html`<p class="trouble" role="alert">${callTrouble.value}</p>`}
  </section>`;
}
