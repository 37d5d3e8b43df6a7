// Tells of new messages that ring: whoever makes sounds or shows notices listens here. Keeps which of them this
// browser is to make.

import { inTurn, keep, keptLike } from "../transport/kept.js";
import { signal } from "../vendor/signals.js";
import { channelsById } from "./channels.js";
import { isMuted, levelOf } from "./notifications.js";
import { blocked } from "./people.js";
import { push } from "./push.js";
import { kindOf, meansOf } from "./ringing.js";
import { listen, member } from "./server.js";
import { inSight, seenElsewhere } from "./sight.js";
import { threads } from "./threads.js";
import { seen } from "./unread.js";

const KEPT = "svc.alerts"; // In localStorage.
const ONE_TAB_MS = 3000; // So long a tab keeps the others from ringing for the same message.
export const SOUNDS = ["message", "mention", "join", "leave", "mute"];
const USUAL = { notices: false, sounds: Object.fromEntries(SOUNDS.map((name) => [name, true])) };

/** {notices: bool, sounds: {message, mention, join, leave, mute}} */
export const alerts = signal(keptLike(USUAL, KEPT));

export function chooseAlerts(changes) {
  alerts.value = { ...alerts.value, ...changes };
  keep(KEPT, alerts.value);
}

export const chooseSound = (name, on) => chooseAlerts({ sounds: { ...alerts.value.sounds, [name]: on } });

const listeners = [];

/** Hear of what rings: `heard({kind, sound, notice, channel, message})`. */
export const onAlert = (heard) => listeners.push(heard);

async function ring(message) {
  const [own, channelId] = [member.value, message.channel_id];
  const follows = !message.thread || threads.value.has(message.thread);
  const kind = kindOf(message, { own, blocked: blocked.value, level: levelOf(channelId), muted: isMuted(channelId), follows });
  if (!kind) return;
  const { notices, sounds } = alerts.value;
  const here = { inSight: inSight.value, sees: !message.thread && seen.value === channelId, elsewhere: await seenElsewhere() };
  const means = meansOf({ ...here, sound: sounds[kind], notices, rung: push.value === "on" });
  const channel = channelsById.value.get(channelId);
  if (!channel || !(means.sound || means.notice)) return;
  await inTurn(`svc.ring ${message.id}`, async (lock) => {
    if (!lock) return; // Another tab was faster.
    for (const heard of listeners) heard({ kind, ...means, channel, message });
    await new Promise((resolve) => { setTimeout(resolve, ONE_TAB_MS); });
  }, { ifAvailable: true });
}

listen({
  hear(event, data) {
    if (event === "message_posted") ring(data);
  },
});
