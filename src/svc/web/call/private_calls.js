// Start and take calls in private conversations. Browsers that cannot seal frames get an explanation instead.

/** @import { Call } from "../state/private_calls.js" */

import { effect } from "../vendor/signals.js";
import { t } from "../words/words.js";
import { notify } from "../state/notices.js";
import { memberOf } from "../state/people.js";
import { openTalk } from "../state/navigation.js";
import {
  calledTalk,
  declined,
  markPrivate,
  RING_MS,
  ringing,
  stopRinging,
  whyNotSealed,
} from "../state/private_calls.js";
import { talksById } from "../state/private_talks.js";
import { member } from "../state/server.js";
import { peopleIn } from "../state/voice.js";
import { callChannel, joinCall, leaveCall } from "./current_call.js";

/** @type {ReturnType<typeof setTimeout> | undefined} */
let unanswered; // The timer of our outgoing call.

const others = (/** @type {string} */ talkId) => peopleIn(talkId).filter(({ id }) => id !== member.value?.id);

/** Join the call of this conversation. If nobody is in it, it rings for the others. @param {string} talkId */
export function callTalk(talkId) {
  const why = whyNotSealed();
  if (why) {
    notify(why);
    return;
  }
  markPrivate(talkId);
  clearTimeout(unanswered);
  calledTalk.value = others(talkId).length ? "" : talkId;
  if (calledTalk.value) unanswered = setTimeout(() => giveUp(talkId, t("private-call-unanswered")), RING_MS);
  joinCall(talkId, { mic: true, camera: false });
}

/** Take the ringing call. */
export function takeCall() {
  const { talkId } = /** @type {Call} */ (ringing.value);
  stopRinging();
  openTalk(talkId);
  callTalk(talkId);
}

/** @param {string} talkId @param {string} reason */
function giveUp(talkId, reason) {
  if (callChannel.peek() !== talkId || others(talkId).length) return;
  leaveCall();
  notify(reason);
}

effect(() => {
  if (others(calledTalk.value).length) calledTalk.value = "";
});

declined.subscribe((answer) => {
  if (!answer) return;
  const { talkId, memberId } = answer;
  if (talksById.peek().get(talkId)?.two)
    giveUp(talkId, t("private-call-declined", { name: memberOf(memberId)?.nickname ?? t("somebody") }));
});
