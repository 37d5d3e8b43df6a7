// Plays a sound when somebody joins or leaves the user's call, and when the user mutes or unmutes.

/**
 * `hasSpoken` means that the microphone has been on in this call.
 * @typedef {{channelId: string, in: boolean, mic: boolean, hasSpoken: boolean, others: string[]}} Present
 */

import { callChannel, callState, sending } from "../../call/current_call.js";
import { alerts } from "../../state/alerts.js";
import { ownQuiet } from "../../state/people.js";
import { member } from "../../state/server.js";
import { participantsIn } from "../../state/voice.js";
import { effect } from "../../vendor/signals.js";
import { chime } from "./chimes.js";

export function playCallSounds() {
  /** @type {Present | null} */
  let before = null;
  effect(() => {
    const now = callChannel.value ? present(callChannel.value, before) : null;
    const name = change(before, now);
    before = now;
    if (name && !ownQuiet.peek() && alerts.peek().sounds[name === "unmute" ? "mute" : name]) chime(name);
  });
}

/**
 * Return the user's current state in the call. Joining with the microphone on does not count as unmuting.
 * @param {string} channelId
 * @param {Present | null} before
 * @returns {Present}
 */
function present(channelId, before) {
  const { mic } = sending.value;
  const hasSpoken = mic || (before?.channelId === channelId && before.hasSpoken);
  return { channelId, in: callState.value !== "joining", mic, hasSpoken, others: others(channelId) };
}

/** @param {string} channelId */
const others = (channelId) =>
  participantsIn(channelId)
    .map(({ id }) => id)
    .filter((id) => id !== member.value?.id);

/**
 * Return the sound for a change from `before` to `now`, or null if there is none. Both are null outside
 * calls.
 * @param {Present | null} before
 * @param {Present | null} now
 */
export function change(before, now) {
  if (!now?.in) return before?.in ? "leave" : null;
  if (!before?.in || before.channelId !== now.channelId) return "join";
  if (now.others.some((id) => !before.others.includes(id))) return "join";
  if (before.others.some((id) => !now.others.includes(id))) return "leave";
  if (before.mic && !now.mic) return "mute";
  return now.mic && !before.mic && before.hasSpoken ? "unmute" : null;
}
