// Tracks the members in each voice channel. The modules in call/ manage our own call.

/** @import { VoiceMember } from "../types/api.js" */
/**
 * `lost` means that the member's connection is broken but may recover.
 * @typedef {VoiceMember & {lost?: boolean}} Present
 */
/** @import { Signal } from "../vendor/signals.js" */

import { signal } from "../vendor/signals.js";
import { listen } from "./server.js";

// How long a member with a broken connection stays visible. Most members reconnect within 3 s.
const RETENTION_MS = 10_000;

/**
 * The members: {channelId: [{id, nickname, muted, deafened, self_muted, self_deafened, hand, camera, screen,
 * lost}]}
 * @type {Signal<{[channelId: string]: Present[]}>}
 */
export const voice = signal({});

/**
 * The members who are speaking in calls that we are not in, by channel.
 * @type {Signal<{[channelId: string]: string[]}>}
 */
export const speaking = signal({});

/** Return the members in this channel. @param {string} channelId */
export const participantsIn = (channelId) => voice.value[channelId] ?? [];

/** @type {Map<string, ReturnType<typeof setTimeout>>} */
const lost = new Map();

/** @param {string} channelId @param {Present[]} members */
function change(channelId, members) {
  voice.value = { ...voice.value, [channelId]: members };
}

/** @param {string} channelId @param {string} memberId */
function remove(channelId, memberId) {
  clearTimeout(lost.get(`${channelId} ${memberId}`));
  change(
    channelId,
    participantsIn(channelId).filter(({ id }) => id !== memberId),
  );
}

/**
 * After a member's connection is lost, keep showing the member for a while. Remove the member immediately if
 * they have since joined another channel.
 * @param {string} channelId
 * @param {string} memberId
 */
export function lose(channelId, memberId) {
  const elsewhere = Object.entries(voice.value).some(
    ([other, people]) =>
      other !== channelId && people.some((person) => person.id === memberId && !person.lost),
  );
  if (elsewhere) {
    remove(channelId, memberId);
    return;
  }
  const key = `${channelId} ${memberId}`;
  clearTimeout(lost.get(key));
  lost.set(
    key,
    setTimeout(() => remove(channelId, memberId), RETENTION_MS),
  );
  change(
    channelId,
    participantsIn(channelId).map((person) => (person.id === memberId ? { ...person, lost: true } : person)),
  );
}

/**
 * Add a member, or update a member who is still listed. Remove the member's lost entries in other channels.
 * @param {string} channelId
 * @param {VoiceMember} member
 */
export function addMember(channelId, member) {
  clearTimeout(lost.get(`${channelId} ${member.id}`));
  for (const [other, people] of Object.entries(voice.value)) {
    if (other !== channelId && people.some((person) => person.id === member.id && person.lost))
      remove(other, member.id);
  }
  const people = participantsIn(channelId);
  const known = people.some(({ id }) => id === member.id);
  change(
    channelId,
    known ? people.map((person) => (person.id === member.id ? member : person)) : [...people, member],
  );
}

/**
 * Replace the state with the server's state. For a while, keep the members of our call whom the server does
 * not list, because they may be reconnecting as well.
 * @param {string} own
 * @param {{[channelId: string]: VoiceMember[]}} calls
 */
export function takeOver(own, calls) {
  const ours = Object.entries(voice.value).filter(
    ([channelId, people]) => calls[channelId] && people.some(({ id }) => id === own),
  );
  voice.value = calls;
  for (const [channelId, people] of ours) {
    const members = calls[channelId];
    change(channelId, people);
    for (const { id } of people) if (!members.some((member) => member.id === id)) lose(channelId, id);
    for (const member of members) addMember(channelId, member);
  }
}

listen({
  onGreeting(greeting) {
    takeOver(greeting.member.id, greeting.voice);
    speaking.value = {};
  },
  onPush(event, data) {
    switch (event) {
      case "voice_state":
        change(data.channel_id, data.members);
        break;
      case "voice_joined":
        addMember(data.channel_id, data.member);
        break;
      case "voice_left":
        (data.lost ? lose : remove)(data.channel_id, data.member_id);
        break;
      case "voice_speaking":
        speaking.value = { ...speaking.value, [data.channel_id]: data.member_ids };
        break;
      case "voice_updated": {
        const { channel_id: channelId, member_id: memberId, ...changes } = data;
        change(
          channelId,
          participantsIn(channelId).map((member) =>
            member.id === memberId ? { ...member, ...changes } : member,
          ),
        );
        break;
      }
      case "member_updated":
        for (const [channelId, members] of Object.entries(voice.value)) {
          if (members.some(({ id }) => id === data.id)) {
            change(
              channelId,
              members.map((member) =>
                member.id === data.id ? { ...member, nickname: data.nickname } : member,
              ),
            );
          }
        }
        break;
      case "channel_deleted": {
        const { [data.channel_id]: _, ...rest } = voice.value;
        voice.value = rest;
        break;
      }
      default:
    }
  },
  onResumption() {
    speaking.value = {}; // These were not updated while we were disconnected.
  },
  onSignOut() {
    voice.value = {};
    speaking.value = {};
  },
});
