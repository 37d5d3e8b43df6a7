// Who is in which voice channel. Knows nothing of our own call.

import { signal } from "../vendor/signals.js";
import { listen } from "./server.js";

/** {channelId: [{id, nickname, muted, deafened, self_muted, self_deafened, hand, camera, screen}]} */
export const voice = signal({});

/** Who is in this channel. */
export const peopleIn = (channelId) => voice.value[channelId] ?? [];

function change(channelId, members) {
  voice.value = { ...voice.value, [channelId]: members };
}

listen({
  greet(greeting) {
    voice.value = greeting.voice;
  },
  hear(event, data) {
    const others = (memberId) => peopleIn(data.channel_id).filter(({ id }) => id !== memberId);
    switch (event) {
      case "voice_state":
        change(data.channel_id, data.members);
        break;
      case "voice_joined":
        change(data.channel_id, [...others(data.member.id), data.member]);
        break;
      case "voice_left":
        change(data.channel_id, others(data.member_id));
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
  forget() {
    voice.value = {};
  },
});
