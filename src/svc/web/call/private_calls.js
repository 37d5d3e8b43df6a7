// Starts and answers calls in private conversations. Explains why if this browser cannot encrypt calls.

/** @import { Call } from "../state/private_calls.js" */

import { effect } from "../vendor/signals.js";
import { t } from "../words/words.js";
import { notify } from "../state/notices.js";
import { memberOf } from "../state/people.js";
import { openConversation } from "../state/navigation.js";
import {
  calledConversation,
  declined,
  markPrivate,
  RING_MS,
  ringing,
  stopRinging,
  whyNotSealed,
} from "../state/private_calls.js";
import { conversationsById } from "../state/private_conversations.js";
import { member } from "../state/server.js";
import { participantsIn } from "../state/voice.js";
import { callChannel, joinCall, leaveCall } from "./current_call.js";

/** @type {ReturnType<typeof setTimeout> | undefined} */
let unanswered; // The timer that ends our outgoing call's ringing.

const others = (/** @type {string} */ conversationId) =>
  participantsIn(conversationId).filter(({ id }) => id !== member.value?.id);

/** Join the call in this conversation. If nobody is in it, ring the others. @param {string} conversationId */
export function callConversation(conversationId) {
  const why = whyNotSealed();
  if (why) {
    notify(why);
    return;
  }
  markPrivate(conversationId);
  clearTimeout(unanswered);
  calledConversation.value = others(conversationId).length ? "" : conversationId;
  if (calledConversation.value)
    unanswered = setTimeout(() => giveUp(conversationId, t("private-call-unanswered")), RING_MS);
  joinCall(conversationId, { mic: true, camera: false });
}

/** Answer the ringing call. */
export function acceptCall() {
  const { conversationId } = /** @type {Call} */ (ringing.value);
  stopRinging();
  openConversation(conversationId);
  callConversation(conversationId);
}

/** @param {string} conversationId @param {string} reason */
function giveUp(conversationId, reason) {
  if (callChannel.peek() !== conversationId || others(conversationId).length) return;
  leaveCall();
  notify(reason);
}

effect(() => {
  if (others(calledConversation.value).length) calledConversation.value = "";
});

declined.subscribe((answer) => {
  if (!answer) return;
  const { conversationId, memberId } = answer;
  if (conversationsById.peek().get(conversationId)?.two)
    giveUp(
      conversationId,
      t("private-call-declined", { name: memberOf(memberId)?.nickname ?? t("somebody") }),
    );
});
