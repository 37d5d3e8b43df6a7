// Who is in which voice channel, kept up to date by what the server pushes: differences.
// Knows nothing of calls or of the page.

/** Take a push into `voice`, {channelId: [member…]}; says whether it was about that. */
export function hearOfVoice(voice, event, data) {
  const others = (memberId) => (voice[data.channel_id] ?? []).filter(({ id }) => id !== memberId);
  switch (event) {
    case "voice_state":
      voice[data.channel_id] = data.members;
      return true;
    case "voice_joined":
      voice[data.channel_id] = [...others(data.member.id), data.member];
      return true;
    case "voice_left":
      voice[data.channel_id] = others(data.member_id);
      return true;
    case "voice_updated": {
      const { channel_id: channelId, member_id: memberId, ...changes } = data;
      const updated = (member) => (member.id === memberId ? { ...member, ...changes } : member);
      voice[channelId] = (voice[channelId] ?? []).map(updated);
      return true;
    }
    case "member_updated":
      for (const [channelId, members] of Object.entries(voice)) {
        const renamed = (member) => (member.id === data.id ? { ...member, nickname: data.nickname } : member);
        voice[channelId] = members.map(renamed);
      }
      return true;
    default:
      return false;
  }
}
