// Lists the members in our call, with their tracks and state.

/** @import { Present } from "../state/voice.js" */
/** @import { Source } from "./session.js" */
/**
 * @typedef {Partial<Omit<Present, "camera" | "screen">>} Marks
 * @typedef {Marks & {id: string, nickname: string, own: boolean, camera: MediaStreamTrack | null, screen:
 *   MediaStreamTrack | null, unwatched?: boolean, withheld?: {[source: string]: string}}} Person
 */

import { member } from "../state/server.js";
import { participantsIn } from "../state/voice.js";
import { callChannel, deafened, sending, currentCall, tracks, unwatched } from "./current_call.js";

/**
 * Return everybody in our call, ourselves last: {id, nickname, own, camera, screen, unwatched, ...marks}.
 * `camera` and `screen` are tracks or null. `unwatched` means that the member is sharing a screen that we do
 * not receive. `withheld` maps the sources that we cannot receive to the reason, "codec" or "no_line"; it
 * changes with `tracks`.
 * @returns {Person[]}
 */
export function participants() {
  const own = member.value;
  const channelId = callChannel.value;
  if (!channelId || !own) return [];
  const video = (/** @type {string} */ id, /** @type {Source} */ source) =>
    tracks.value.find((track) => track.userId === id && track.source === source)?.receiver.track ?? null;
  const others = participantsIn(channelId)
    .filter(({ id }) => id !== own.id)
    .map((person) => ({
      ...person,
      own: false,
      camera: video(person.id, "camera"),
      screen: video(person.id, "screen"),
      ...withheldReasons(person.id),
    }));
  const { mic, camera, screen } = sending.value;
  const marks = participantsIn(channelId).find(({ id }) => id === own.id) ?? {};
  return [
    ...others,
    {
      ...marks,
      id: own.id,
      nickname: own.nickname,
      own: true,
      self_muted: !mic,
      self_deafened: deafened.value,
      camera,
      screen,
    },
  ];
}

/** @param {string} id */
function withheldReasons(id) {
  const ofThem = (currentCall()?.withheld ?? []).filter(({ userId }) => userId === id);
  const reasons = Object.fromEntries(ofThem.map(({ source, reason }) => [source, reason]));
  return { withheld: reasons, unwatched: unwatched.value.includes(id) || Boolean(reasons.screen) };
}
