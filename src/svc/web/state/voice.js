// Who is in which voice channel. Knows nothing of our own call.

/** @import { VoiceMember } from "../types/api.js" */
/** @import { Signal } from "../vendor/signals.js" */

import { signal } from "../vendor/signals.js";
import { listen } from "./server.js";

/** {channelId: [{id, nickname, muted, deafened, self_muted, self_deafened, hand, camera, screen}]} @type {Signal<{[channelId: string]: VoiceMember[]}>} */
export const voice = signal({});

/** Who speaks in the calls that we are not in, by channel. @type {Signal<{[channelId: string]: string[]}>} */
export const speaking = signal({});

/** Who is in this channel. @param {string} channelId */
export const peopleIn = (channelId) => voice.value[channelId] ?? [];

/** @param {string} channelId @param {VoiceMember[]} members */
function change(channelId, members) {
  voice.value = { ...voice.value, [channelId]: members };
}

listen({
  greet(greeting) {
    voice.value = greeting.voice;
    speaking.value = {};
  },
  hear(event, data) {
    const others = (/** @type {string} */ channelId, /** @type {string} */ memberId) => peopleIn(channelId).filter(({ id }) => id !== memberId);
    switch (event) {
      case "voice_state":
        change(data.channel_id, data.members);
        break;
      case "voice_joined":
        change(data.channel_id, [...others(data.channel_id, data.member.id), data.member]);
        break;
      case "voice_left":
        change(data.channel_id, others(data.channel_id, data.member_id));
        break;
      case "voice_speaking":
        speaking.value = { ...speaking.value, [data.channel_id]: data.member_ids };
        break;
      case "voice_updated": {
        const { channel_id: channelId, member_id: memberId, ...changes } = data;
        change(channelId, peopleIn(channelId).map((member) => (member.id === memberId ? { ...member, ...changes } : member)));
        break;
      }
      case "member_updated":
        for (const [channelId, members] of Object.entries(voice.value)) {
          if (members.some(({ id }) => id === data.id)) {
            change(channelId, members.map((member) => (member.id === data.id ? { ...member, nickname: data.nickname } : member)));
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
  resume() {
    speaking.value = {}; // Nobody has told us since.
  },
  forget() {
    voice.value = {};
    speaking.value = {};
  },
});
