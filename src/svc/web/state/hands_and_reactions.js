// Sorts the raised hands in a call, and keeps the reactions that are currently displayed.

/** @import { Signal } from "../vendor/signals.js" */

import { signal } from "../vendor/signals.js";
import { ask, listen } from "./server.js";

const SHOWN_MS = 4000; // The duration of the animation in the style sheet.
const MAX_SHOWN = 24;

/**
 * The reactions currently displayed: [{key, channelId, memberId, emoji}], oldest first.
 * @type {Signal<{key: number, channelId: string, memberId: string, emoji: string}[]>}
 */
export const reactions = signal([]);

let nextKey = 1;

/** @param {string} channelId @param {boolean} raised */
export const raiseHand = (channelId, raised) => ask("voice_hand", { channel_id: channelId, raised });
/** @param {string} channelId @param {string} emoji */
export const react = (channelId, emoji) => ask("voice_react", { channel_id: channelId, emoji });

/**
 * Return the members with a raised hand, in the order in which they raised it.
 * @template {{hand?: number}} T
 * @param {T[]} people
 */
export const raisedHands = (people) =>
  people.filter(({ hand = 0 }) => hand > 0).sort(({ hand: a = 0 }, { hand: b = 0 }) => a - b);

listen({
  onPush(event, data) {
    if (event !== "voice_reacted") return;
    const key = nextKey++;
    const reaction = { key, channelId: data.channel_id, memberId: data.member_id, emoji: data.emoji };
    reactions.value = [...reactions.value, reaction].slice(-MAX_SHOWN);
    setTimeout(() => {
      reactions.value = reactions.value.filter((reaction) => reaction.key !== key);
    }, SHOWN_MS);
  },
  onSignOut() {
    reactions.value = [];
  },
});
