// Creates the payloads of private messages, and computes a conversation's current messages from the payloads
// in its log. Other devices can send arbitrary data, so all payloads are validated. MLS authenticates the
// author of each message. See docs/private.md.

/**
 * @import { Reactions } from "../conversation.js"
 * @import { EncryptedFile } from "./file_encryption.js"
 *
 * @typedef {{by: string, key: string}} Ref The author of a message, and the key that the author chose.
 * @typedef {{seq: number, by: string, who: string}} Removal
 * @typedef {{v?: number, type?: string, key: string, [part: string]: any}} Payload
 * @typedef {{id: string, ref: Ref, seq: number, memberId: string, text: string, sentAtMs: number, editedAtMs:
 *   number | null, reply: string | null, reactions: Reactions,
 *   files: EncryptedFile[], edits: number[], deleted: boolean, trouble: "" | "unreadable" | "newer"}}
 *   DecryptedMessage
 */

import { changedReactions } from "../conversation.js";
import { encryptedFilesIn } from "./file_encryption.js";

const VERSION = 1;
export const MAX_CHARACTERS = 4000; // The maximum length of a message, as in channels.
const MAX_KEY_LENGTH = 64;
const MAX_SIGN_LENGTH = 64;
export const MAX_NAME_LENGTH = 80;

/** @param {string} type @param {object} rest @returns {Payload} */
const newPayload = (type, rest) => ({ v: VERSION, type, key: crypto.randomUUID(), ...rest });

/** @param {string} text @param {{reply?: Ref | null, files?: EncryptedFile[]}} [rest] */
export const messagePayload = (text, { reply = null, files = [] } = {}) =>
  newPayload("message", { text, ...(reply && { reply }), ...(files.length && { files }) });
/** @param {Ref} of A message by the same member. @param {string} text */
export const editPayload = ({ key: of }, text) => newPayload("edit", { of, text });
/** @param {Ref} of A message by the same member. */
export const deletionPayload = ({ key: of }) => newPayload("delete", { of });
/** @param {Ref} of @param {string} emoji @param {boolean} on */
export const reactionPayload = (of, emoji, on) => newPayload("reaction", { of, emoji, on });

/** @param {string} text The conversation's new name. */
export const namePayload = (text) => newPayload("name", { text: text.trim().slice(0, MAX_NAME_LENGTH) });

/** @param {string} who The member whom the author has just removed from the group. */
export const removalPayload = (who) => newPayload("removed", { who });

/**
 * Return the payload that is kept in the history after a message is deleted by its author.
 * @param {Pick<Payload, "type" | "key">} payload
 */
export const emptied = ({ type = "message", key }) => ({ v: VERSION, type, key, deleted: true });

/** Return a message's id, which is unique within its conversation. @param {Ref} ref */
export const idOf = ({ by, key }) => `${by} ${key}`;

/**
 * Return the current messages in order: [{id, ref, seq, memberId, text, sentAtMs, editedAtMs, reply,
 * reactions, trouble}], where `trouble` is "unreadable" or "newer". Also return `emptying`, the numbers of
 * the entries whose text must be erased; `name`, the conversation's name, which can be ""; and `removals`,
 * the claims about who removed whom.
 * @param {{seq: number, memberId: string | null, said: any, sentAtMs: number}[]} entries The entries in
 *   order.
 */
export function contentOf(entries) {
  /** @type {Map<string, DecryptedMessage>} */
  const all = new Map();
  const emptying = [];
  /** @type {Removal[]} */
  const removals = [];
  let name = "";
  for (const { seq, memberId: by, said: payload, sentAtMs } of entries) {
    if (!by) continue;
    const type = payload?.type ?? "message";
    if (!payload || payload.v > VERSION) {
      all.set(`${by} #${seq}`, {
        ...blank({ by, key: `#${seq}` }, seq, sentAtMs),
        trouble: payload ? "newer" : "unreadable",
      });
      continue;
    }
    const own = (isKey(payload.of) && all.get(idOf({ by, key: payload.of }))) || null;
    if (type === "message") begin(all, { ...payload, key: payload.key ?? `#${seq}` }, { seq, by, sentAtMs });
    else if (type === "name" && isText(payload.text)) name = payload.text.slice(0, MAX_NAME_LENGTH);
    else if (type === "removed" && typeof payload.who === "string")
      removals.push({ seq, by, who: payload.who });
    else if (type === "edit" && own && !own.deleted && isText(payload.text))
      all.set(own.id, { ...own, text: payload.text, editedAtMs: sentAtMs, edits: [...own.edits, seq] });
    else if (type === "delete" && own && !own.deleted) {
      emptying.push(own.seq, ...own.edits);
      all.set(own.id, { ...own, deleted: true });
    } else if (type === "reaction") react(all, by, payload);
  }
  return {
    messages: [...all.values()].filter(({ deleted }) => !deleted),
    emptying: emptying.filter((seq) => Number.isFinite(seq)),
    name,
    removals,
  };
}

/** @param {Ref} ref @param {number} seq @param {number} sentAtMs @returns {DecryptedMessage} */
const blank = (ref, seq, sentAtMs) => ({
  id: idOf(ref),
  ref,
  seq,
  memberId: ref.by,
  text: "",
  sentAtMs,
  editedAtMs: null,
  reply: null,
  reactions: [],
  files: [],
  edits: [],
  deleted: false,
  trouble: "",
});

/**
 * Add a message, unless it is a duplicate that was sent because a response was lost.
 * @param {Map<string, DecryptedMessage>} all
 * @param {any} what
 * @param {{seq: number, by: string, sentAtMs: number}} entry
 */
function begin(all, { key, text, reply, files, deleted }, { seq, by, sentAtMs }) {
  if (!isKey(key) || all.has(idOf({ by, key })) || !(deleted || isText(text))) return;
  const message = {
    ...blank({ by, key }, seq, sentAtMs),
    text: text ?? "",
    deleted: Boolean(deleted),
    reply: isRef(reply) ? idOf(reply) : null,
    files: encryptedFilesIn(files),
  };
  all.set(message.id, message);
}

/** @param {Map<string, DecryptedMessage>} all @param {string} by @param {any} what */
function react(all, by, { of, emoji, on }) {
  const message = isRef(of) && isSign(emoji) ? all.get(idOf(of)) : null;
  if (!message) return;
  // Other programs may send the same emoji with or without variation selectors.
  const written = message.reactions.find((reaction) => bare(reaction.emoji) === bare(emoji))?.emoji ?? emoji;
  all.set(message.id, {
    ...message,
    reactions: changedReactions(message.reactions, { emoji: written, member_id: by, added: on === true }),
  });
}

/** @param {string} emoji */
const bare = (emoji) => emoji.replace(/[\uFE0E\uFE0F]/g, "");
/** @param {unknown} text */
const isText = (text) => typeof text === "string" && text.length <= MAX_CHARACTERS;
/** @param {unknown} key */
const isKey = (key) => typeof key === "string" && key.length > 0 && key.length <= MAX_KEY_LENGTH;
/** @param {any} ref */
const isRef = (ref) => Boolean(ref) && typeof ref.by === "string" && isKey(ref.key);
/** @param {unknown} sign */
const isSign = (sign) =>
  typeof sign === "string" && sign.length > 0 && sign.length <= MAX_SIGN_LENGTH && !/\s/u.test(sign);
