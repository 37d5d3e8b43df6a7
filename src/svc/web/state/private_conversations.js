// Keeps the state of private conversations for the views: the list, the messages, and the unread counts.
// state/private_client.js loads the code that updates it. See docs/private.md.

/**
 * @import { Member } from "../types/api.js"
 * @import { Signal } from "../vendor/signals.js"
 * @import { Ref, DecryptedMessage } from "./private/content.js"
 * @import { TransferRequest, TransferState } from "./private/history_messages.js"
 * @import { Opened } from "./private/files.js"
 * @import { EncryptedFile } from "./private/file_encryption.js"
 * @import { PrivateUploads } from "./private/uploads.js"
 *
 * @typedef {{id: string, members: string[], two: boolean, name: string, unread: number, lastMs: number,
 *   stands: "loading" | "alone" | "outside" | "ready", verified: "yes" | "lost" | "no", earlier:
 *   TransferState, code: string[], asks: (TransferRequest & {code: string[]})[]}} PrivateConversation `code`
 *   is this device's safety number. In `asks`, it is the requesting device's safety number.
 * @typedef {{key: string, text: string, files: EncryptedFile[], reply: {id: string} | null, atMs: number,
 *   state: "sending" | "refused" | "waiting", problem: string}} Unsent
 * @typedef {{id: string, seq: number, posted_at_ms: number, note: {what: string, memberId: string, by?:
 *   string}[]}} Noted
 */

import { computed, signal } from "../vendor/signals.js";
import { formatList, t } from "../words/words.js";
import { blocked, memberOf, members } from "./people.js";
import { listen, member } from "./server.js";

/**
 * The conversations, [{id, members, two, name, unread, lastMs, stands, verified, earlier, code, asks}],
 * newest first.
 * @type {Signal<PrivateConversation[]>}
 */
export const conversations = signal([]);
export const conversationsById = computed(
  () => new Map(conversations.value.map((conversation) => [conversation.id, conversation])),
);
/** Whether the list of conversations has been loaded. */
export const conversationsKnown = signal(false);
/** The number of unread messages in conversations whose members we have not blocked. */
export const privateUnread = computed(() =>
  conversations.value.reduce(
    (sum, conversation) => sum + (isBlocked(conversation) ? 0 : conversation.unread),
    0,
  ),
);
/**
 * The messages by conversation, in the format of private/content.js. @type {Signal<Map<string,
 * DecryptedMessage[]>>}
 */
export const privateMessages = signal(new Map());
/** Our unsent messages by conversation. @type {Signal<Map<string, Unsent[]>>} */
export const unsent = signal(new Map());
/** The draft by conversation. It exists only in this tab. @type {Map<string, string>} */
export const begun = new Map();
/**
 * The notes about members who joined or left, by conversation: [{id, seq, posted_at_ms, note}].
 * @type {Signal<Map<string, Noted[]>>}
 */
export const notes = signal(new Map());
/**
 * The message that we are replying to, as displayed, or null.
 * @type {Signal<{conversation_id: string, id: string, ref: Ref, text: string, author: {display_name: string},
 *   attachments: unknown[]} | null>}
 */
export const answering = signal(null);
/** The files that have been decrypted in this tab, by id. @type {Signal<Map<string, Opened>>} */
export const opened = signal(new Map());
/** The files attached to the draft, by conversation. @type {Map<string, PrivateUploads>} */
export const attaching = new Map();
/** For each conversation that could not be read, the reason. @type {Signal<Map<string, string>>} */
export const problems = signal(new Map());

/** Return the other members of a conversation. @param {Pick<PrivateConversation, "members">} conversation */
export const othersOf = (conversation) => conversation.members.filter((id) => id !== member.value?.id);
/** @param {Pick<PrivateConversation, "name" | "members">} conversation */
export const nameOf = (conversation) =>
  conversation.name ||
  formatList(othersOf(conversation).map((id) => memberOf(id)?.nickname ?? t("somebody"))) ||
  t("private-alone-name");
/** @param {Pick<PrivateConversation, "two" | "members">} conversation */
export const isBlocked = (conversation) =>
  conversation.two && othersOf(conversation).some((id) => blocked.value.has(id));

/**
 * Return whether we may write privately to this member. We may not write to bots, to ourselves, or to members
 * we have blocked.
 * @param {Pick<Member, "id" | "bot">} to
 */
export const mayWriteTo = ({ id, bot }) =>
  id !== member.value?.id && !bot && !blocked.value.has(id) && members.value.has(id);

listen({
  onSignOut() {
    conversations.value = [];
    conversationsKnown.value = false;
    begun.clear();
    attaching.clear();
    for (const { url } of opened.value.values()) if (url) URL.revokeObjectURL(url);
    opened.value = new Map();
    answering.value = null;
    for (const all of [privateMessages, unsent, problems, notes]) all.value = new Map();
  },
});
