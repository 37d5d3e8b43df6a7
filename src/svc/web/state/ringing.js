// What rings, and by which means. Decisions only: nothing is asked, kept or shown here.

/** @import { Member, Message } from "../types/api.js" */

/** Does the message name us, or a group that we belong to? A reply that notifies names whom it answers. @param {Pick<Message, "mentions" | "mention_groups">} message @param {Pick<Member, "id" | "roles">} own */
export function namesUs({ mentions, mention_groups: groups }, own) {
  const ours = ["everyone", "here", ...(own.roles ?? [])];
  return mentions.includes(own.id) || (groups ?? []).some((group) => ours.includes(group));
}

/**
 * What a new message is to us: "mention", "message", or null where we do not want to be told of it.
 * @param {Pick<Message, "author" | "mentions" | "mention_groups">} message
 * @param {{own: Pick<Member, "id" | "roles"> | null, blocked: Set<string>, level: string, muted: boolean, follows?: boolean}} us
 *   `follows`: the thread that it is in, if it is in one
 * @returns {"mention" | "message" | null}
 */
export function kindOf(message, { own, blocked, level, muted, follows = true }) {
  if (!own || message.author.id === own.id || blocked.has(message.author.id)) return null;
  if (muted || level === "nothing") return null;
  if (namesUs(message, own)) return "mention";
  return level === "all" && follows ? "message" : null;
}

/**
 * How we are told: {sound, notice}. What is before our eyes needs neither; with the page in sight a sound is
 * enough; and where devices are rung by the server, this one shows what the server sends and nothing twice.
 * @param {{inSight: boolean, sees: boolean, elsewhere: boolean, sound: boolean, notices: boolean, rung: boolean}} here
 *   `sees`: the channel's newest message is on the screen; `elsewhere`: another tab of ours is in sight.
 */
export function meansOf({ inSight, sees, elsewhere, sound, notices, rung }) {
  if (inSight ? sees : elsewhere) return { sound: false, notice: false };
  return { sound, notice: !inSight && notices && !rung };
}
