// Calls in private conversations: which rings, and which rooms are to be entered by nobody who cannot seal. docs/private.md

/** @import { Signal } from "../vendor/signals.js" */
/** @typedef {{talkId: string, memberId: string}} Call */

import { signal } from "../vendor/signals.js";
import { t } from "../words/words.js";
import { channelsById } from "./channels.js";
import { blocked } from "./people.js";
import { talksById } from "./private_talks.js";
import { ask, listen, member } from "./server.js";
import { peopleIn } from "./voice.js";

/** How long a call rings. */
export const RING_MS = 45_000;
/** The call that rings, {talkId, memberId} of who calls, or null. @type {Signal<Call | null>} */
export const ringing = signal(null);
/** The conversation in which we call, until somebody answers; "" for none. @type {Signal<string>} */
export const calledTalk = signal("");
/** The state of the call in this room, in words. @param {string} roomId @param {string} state */
export const callWords = (roomId, state) => t(`call-${state === "connected" && calledTalk.value === roomId ? "ringing" : state}`);

/** Who does not take a call, {talkId, memberId}, a new object each time; or null. @type {Signal<Call | null>} */
export const declined = signal(null);

/** Whose devices have the keys of the encrypted channel's call that we are in: ids, one for each device. @type {Signal<string[]>} */
export const keyHolders = signal([]);

/** Where we have called or been called, also before the conversations are known. @type {Set<string>} */
const rooms = new Set();
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;

/** Is the call in this room to be sealed, whatever the server says? @param {string} roomId */
export const isPrivateRoom = (roomId) => rooms.has(roomId) || talksById.peek().has(roomId);
/** @param {string} roomId */
export const markPrivate = (roomId) => rooms.add(roomId);

/** Why this browser cannot take part in encrypted calls; "" where it can. */
export const whyNotSealed = () => (typeof globalThis.RTCRtpScriptTransform === "function" ? "" : t("private-call-never"));

/** It rings no more, here. */
export function stopRinging() {
  clearTimeout(timer);
  ringing.value = null;
}

/** Do not take the call; who calls is told. */
export function declineCall() {
  const { talkId } = /** @type {Call} */ (ringing.value);
  stopRinging();
  ask("private_call_decline", { conversation_id: talkId }).catch(() => {});
}

/** @param {string} talkId @param {string} memberId */
function ring(talkId, memberId) {
  markPrivate(talkId);
  clearTimeout(timer);
  timer = setTimeout(stopRinging, RING_MS);
  ringing.value = { talkId, memberId };
}

listen({
  hear(event, data) {
    const [own, rung] = [member.value?.id, ringing.value?.talkId];
    if (event === "voice_joined" && !channelsById.value.has(data.channel_id)) {
      if (data.member.id === own && rung === data.channel_id) stopRinging(); // Taken, perhaps by another device.
      else if (data.member.id !== own && peopleIn(data.channel_id).length === 1 && !blocked.value.has(data.member.id)) ring(data.channel_id, data.member.id);
    } else if (event === "voice_left" && rung === data.channel_id && peopleIn(rung).every(({ lost }) => lost)) stopRinging();
    else if (event === "private_call_declined") {
      if (data.member_id === own && rung === data.conversation_id) stopRinging();
      else if (data.member_id !== own) declined.value = { talkId: data.conversation_id, memberId: data.member_id };
    }
  },
  forget() {
    stopRinging();
    rooms.clear();
  },
});
