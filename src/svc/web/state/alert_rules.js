// Decides which messages cause a sound or a notification. Contains only pure functions.

/** @import { Member, Message } from "../types/api.js" */

/**
 * Return whether the message mentions us or a group that we belong to. A reply with a ping counts as a
 * mention of the original message's author.
 * @param {Pick<Message, "mentions" | "mention_groups">} message
 * @param {Pick<Member, "id" | "roles">} own
 */
export function mentionsUs({ mentions, mention_groups: groups }, own) {
  const ours = ["everyone", "here", ...(own.roles ?? [])];
  return mentions.includes(own.id) || (groups ?? []).some((group) => ours.includes(group));
}

/**
 * Return the kind of alert for a new message: "mention", "message", or null if we do not want an alert.
 * @param {Pick<Message, "author" | "mentions" | "mention_groups">} message
 * @param {{own: Pick<Member, "id" | "roles"> | null, blocked: Set<string>, level: string, muted: boolean,
 *   follows?: boolean}} us `follows` is whether we follow the message's thread, if it is in a thread.
 * @returns {"mention" | "message" | null}
 */
export function kindOf(message, { own, blocked, level, muted, follows = true }) {
  if (!own || message.author.id === own.id || blocked.has(message.author.id)) return null;
  if (muted || level === "nothing") return null;
  if (mentionsUs(message, own)) return "mention";
  return level === "all" && follows ? "message" : null;
}

/**
 * Return how to alert the member: {sound, notice}. A visible message needs neither. While the page is
 * visible, a sound is enough. If the server notifies this device with a push, show no second notification.
 * @param {{pageVisible: boolean, messageVisible: boolean, visibleElsewhere: boolean, sound: boolean, notices:
 *   boolean, notifiedByPush:
 *   boolean}} here
 *   `messageVisible` means that the channel's newest message is on the screen, and `visibleElsewhere` that
 *   another of our
 *   tabs is visible.
 */
export function alertFor({ pageVisible, messageVisible, visibleElsewhere, sound, notices, notifiedByPush }) {
  if (pageVisible ? messageVisible : visibleElsewhere) return { sound: false, notice: false };
  return { sound, notice: !pageVisible && notices && !notifiedByPush };
}
