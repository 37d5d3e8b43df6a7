// Converts private messages to the format of channel messages.

/** @import { Member } from "../../types/api.js" */
/** @import { DecryptedMessage } from "../../state/private/content.js" */
/** @import { EncryptedFile } from "../../state/private/file_encryption.js" */
/**
 * @typedef {ReturnType<typeof shown>} PrivateMessage
 * @typedef {ReturnType<typeof fileOf>} PrivateFile
 */

import { memberOf } from "../../state/people.js";
import { kindOf } from "../../state/private/file_encryption.js";
import { notes, privateMessages } from "../../state/private_conversations.js";
import { computed } from "../../vendor/signals.js";
import { t } from "../../words/words.js";

/**
 * Return a conversation's messages. Unchanged messages stay the same objects.
 * @param {{id: string, members: string[]}} conversation
 */
export function messagesOf({ id: conversationId, members }) {
  /**
   * Maps each id to the converted message and its source. @type {Map<string, {source: string, message:
   * PrivateMessage}>}
   */
  const made = new Map();
  const spoken = computed(() =>
    (privateMessages.value.get(conversationId) ?? []).map((entry) => {
      const author = memberOf(entry.memberId);
      const source = JSON.stringify([entry, author?.nickname, author?.avatar]);
      const before = made.get(entry.id);
      if (before?.source === source) return before.message;
      const message = shown(entry, author, conversationId, members);
      made.set(entry.id, { source, message });
      return message;
    }),
  );
  return computed(() =>
    [...spoken.value, ...(notes.value.get(conversationId) ?? [])].sort((a, b) => a.seq - b.seq),
  );
}

/**
 * Convert a file to the format of channel files. It has a URL once this page has decrypted it.
 * @param {EncryptedFile} encrypted
 */
const fileOf = (encrypted) => ({
  ...encrypted,
  encrypted,
  kind: kindOf(encrypted.type),
  url: "",
  placeholder: "",
  thumbnail: null,
  poster: null,
});

/**
 * @param {DecryptedMessage} source
 * @param {Member | null} author
 * @param {string} conversationId
 * @param {string[]} members
 */
function shown(
  { id, ref, seq, edits, memberId, text, files, sentAtMs, editedAtMs, reply, reactions, trouble },
  author,
  conversationId,
  members,
) {
  return {
    id,
    ref,
    seq,
    content_seq: edits.at(-1) ?? seq,
    conversation_id: conversationId,
    channel_id: null,
    text: trouble ? t(`private-${trouble}`) : text,
    posted_at_ms: sentAtMs,
    edited_at_ms: editedAtMs,
    pinned: false,
    author: {
      kind: /** @type {const} */ ("member"),
      id: memberId,
      display_name: author?.nickname ?? t("somebody"),
      avatar: author?.avatar ?? null,
      bot: false,
    },
    attachments: files.map(fileOf),
    cards: [],
    reactions,
    previews: [],
    mentions: members.filter((memberId) => text.includes(`(mention:${memberId})`)),
    mention_groups: [],
    reply_to: reply,
    thread: null,
    trouble,
    note: undefined,
  };
}
