// Tracks calls in private conversations: the ringing call, and the rooms that require encryption. See
// docs/private.md.

/** @import { Signal } from "../vendor/signals.js" */
/** @typedef {{conversationId: string, memberId: string}} Call */

import { signal } from "../vendor/signals.js";
import { t } from "../words/words.js";
import { channelsById } from "./channels.js";
import { blocked } from "./people.js";
import { conversationsById } from "./private_conversations.js";
import { ask, listen, member } from "./server.js";
import { participantsIn } from "./voice.js";

/** The time after which a call stops ringing. */
export const RING_MS = 45_000;
/**
 * The ringing call, {conversationId, memberId}, where `memberId` is the caller; or null.
 * @type {Signal<Call | null>}
 */
export const ringing = signal(null);
/**
 * The id of the conversation that we are calling, until somebody answers, or "" if there is none.
 * @type {Signal<string>}
 */
export const calledConversation = signal("");
/** Describe the state of the call in this room. @param {string} roomId @param {string} state */
export const callWords = (roomId, state) =>
  t(`call-${state === "connected" && calledConversation.value === roomId ? "ringing" : state}`);

/**
 * The last declined call, {conversationId, memberId}, or null. Each declined call sets a new object.
 * @type {Signal<Call | null>}
 */
export const declined = signal(null);

/**
 * The member ids of the devices that have the keys of our encrypted channel call, one per device.
 * @type {Signal<string[]>}
 */
export const keyHolders = signal([]);

/**
 * The rooms in which we have called or been called. A call can start before the conversations are loaded.
 * @type {Set<string>}
 */
const rooms = new Set();
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;

/**
 * Return whether a call in this room must be encrypted, even if the server reports that it is not.
 * @param {string} roomId
 */
export const isPrivateRoom = (roomId) => rooms.has(roomId) || conversationsById.peek().has(roomId);
/** @param {string} roomId */
export const markPrivate = (roomId) => rooms.add(roomId);

/**
 * Return the reason why this browser cannot join calls, or "" if it can. For example, Lockdown Mode on
 * iPhones disables WebRTC.
 */
export const whyNoCall = () => ("RTCPeerConnection" in globalThis ? "" : t("call-never"));

/** Return the reason why this browser cannot join encrypted calls, or "" if it can. */
export const whyNotSealed = () =>
  typeof globalThis.RTCRtpScriptTransform === "function" ? "" : t("private-call-never");

/** Stop ringing on this device. */
export function stopRinging() {
  clearTimeout(timer);
  ringing.value = null;
}

/** Decline the call and notify the caller. */
export function declineCall() {
  const { conversationId } = /** @type {Call} */ (ringing.value);
  stopRinging();
  ask("private_call_decline", { conversation_id: conversationId }).catch(() => {});
}

/** @param {string} conversationId @param {string} memberId */
function ring(conversationId, memberId) {
  markPrivate(conversationId);
  clearTimeout(timer);
  timer = setTimeout(stopRinging, RING_MS);
  ringing.value = { conversationId, memberId };
}

listen({
  onPush(event, data) {
    const [own, rung] = [member.value?.id, ringing.value?.conversationId];
    if (event === "voice_joined" && !channelsById.value.has(data.channel_id)) {
      if (data.member.id === own && rung === data.channel_id)
        stopRinging(); // The call was answered, perhaps on another device.
      else if (
        data.member.id !== own &&
        participantsIn(data.channel_id).length === 1 &&
        !blocked.value.has(data.member.id)
      )
        ring(data.channel_id, data.member.id);
    } else if (
      event === "voice_left" &&
      rung === data.channel_id &&
      participantsIn(rung).every(({ lost }) => lost)
    )
      stopRinging();
    else if (event === "private_call_declined") {
      if (data.member_id === own && rung === data.conversation_id) stopRinging();
      else if (data.member_id !== own)
        declined.value = { conversationId: data.conversation_id, memberId: data.member_id };
    }
  },
  onSignOut() {
    stopRinging();
    rooms.clear();
  },
});
