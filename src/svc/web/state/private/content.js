// The content of private messages, and the state of a conversation that results from them. Others can send
// anything, so everything is validated. MLS authenticates the author of each message. See docs/private.md

/**
 * @import { Reactions } from "../conversation.js"
 * @import { FileSaid } from "./file_encryption.js"
 *
 * @typedef {{by: string, key: string}} Ref the author of a message, and the key that they gave it
 * @typedef {{seq: number, by: string, who: string}} Removal
 * @typedef {{v?: number, type?: string, key: string, [part: string]: any}} Said
 * @typedef {{id: string, ref: Ref, seq: number, memberId: string, text: string, sentAtMs: number, editedAtMs:
 *   number | null, reply: string | null, reactions: Reactions,
 *   files: FileSaid[], edits: number[], deleted: boolean, trouble: "" | "unreadable" | "newer"}} Told
 */

import { changedReactions } from "../conversation.js";
import { filesSaid } from "./file_encryption.js";

const VERSION = 1;
export const MOST_CHARACTERS = 4000; // The limit for a message, as in the channels.
const LONGEST_KEY = 64;
const LONGEST_SIGN = 64;
export const LONGEST_NAME = 80;

/** @param {string} type @param {object} rest @returns {Said} */
const keyed = (type, rest) => ({ v: VERSION, type, key: crypto.randomUUID(), ...rest });

/** @param {string} text @param {{reply?: Ref | null, files?: FileSaid[]}} [rest] */
export const messageSaid = (text, { reply = null, files = [] } = {}) =>
  keyed("message", { text, ...(reply && { reply }), ...(files.length && { files }) });
/** @param {Ref} of the person's own message @param {string} text */
export const editSaid = ({ key: of }, text) => keyed("edit", { of, text });
/** @param {Ref} of the person's own message */
export const deleteSaid = ({ key: of }) => keyed("delete", { of });
/** @param {Ref} of @param {string} emoji @param {boolean} on */
export const reactionSaid = (of, emoji, on) => keyed("reaction", { of, emoji, on });

/** @param {string} text the new name of the conversation */
export const nameSaid = (text) => keyed("name", { text: text.trim().slice(0, LONGEST_NAME) });

/** @param {string} who the member whom the author has just removed from the group */
export const removedSaid = (who) => keyed("removed", { who });

/**
 * Return the part of a message that stays in the history after its author has deleted it.
 * @param {Pick<Said, "type" | "key">} said
 */
export const emptied = ({ type = "message", key }) => ({ v: VERSION, type, key, deleted: true });

/** Return a message's id, which is unique within its conversation. @param {Ref} ref */
export const idOf = ({ by, key }) => `${by} ${key}`;

/**
 * Return the current messages in order: [{id, ref, seq, memberId, text, sentAtMs, editedAtMs, reply,
 * reactions, trouble}], where `trouble` is "unreadable" or "newer". Also return `emptying`, the entries whose
 * text must be erased; the `name`, or ""; and `removals`, the claims about who removed whom.
 * @param {{seq: number, memberId: string | null, said: any, sentAtMs: number}[]} entries in order
 */
export function toldBy(entries) {
  /** @type {Map<string, Told>} */
  const all = new Map();
  const emptying = [];
  /** @type {Removal[]} */
  const removals = [];
  let name = "";
  for (const { seq, memberId: by, said, sentAtMs } of entries) {
    if (!by) continue;
    const type = said?.type ?? "message";
    if (!said || said.v > VERSION) {
      all.set(`${by} #${seq}`, {
        ...blank({ by, key: `#${seq}` }, seq, sentAtMs),
        trouble: said ? "newer" : "unreadable",
      });
      continue;
    }
    const own = (isKey(said.of) && all.get(idOf({ by, key: said.of }))) || null;
    if (type === "message") begin(all, { ...said, key: said.key ?? `#${seq}` }, { seq, by, sentAtMs });
    else if (type === "name" && isText(said.text)) name = said.text.slice(0, LONGEST_NAME);
    else if (type === "removed" && typeof said.who === "string") removals.push({ seq, by, who: said.who });
    else if (type === "edit" && own && !own.deleted && isText(said.text))
      all.set(own.id, { ...own, text: said.text, editedAtMs: sentAtMs, edits: [...own.edits, seq] });
    else if (type === "delete" && own && !own.deleted) {
      emptying.push(own.seq, ...own.edits);
      all.set(own.id, { ...own, deleted: true });
    } else if (type === "reaction") react(all, by, said);
  }
  return {
    messages: [...all.values()].filter(({ deleted }) => !deleted),
    emptying: emptying.filter((seq) => Number.isFinite(seq)),
    name,
    removals,
  };
}

/** @param {Ref} ref @param {number} seq @param {number} sentAtMs @returns {Told} */
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
 * Add a message. A message repeated after a lost response counts once.
 * @param {Map<string, Told>} all
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
    files: filesSaid(files),
  };
  all.set(message.id, message);
}

/** @param {Map<string, Told>} all @param {string} by @param {any} what */
function react(all, by, { of, emoji, on }) {
  const message = isRef(of) && isSign(emoji) ? all.get(idOf(of)) : null;
  if (!message) return;
  // Other programs may write the same emoji with or without variation selectors.
  const written = message.reactions.find((reaction) => bare(reaction.emoji) === bare(emoji))?.emoji ?? emoji;
  all.set(message.id, {
    ...message,
    reactions: changedReactions(message.reactions, { emoji: written, member_id: by, added: on === true }),
  });
}

/** @param {string} emoji */
const bare = (emoji) => emoji.replace(/[\uFE0E\uFE0F]/g, "");
/** @param {unknown} text */
const isText = (text) => typeof text === "string" && text.length <= MOST_CHARACTERS;
/** @param {unknown} key */
const isKey = (key) => typeof key === "string" && key.length > 0 && key.length <= LONGEST_KEY;
/** @param {any} ref */
const isRef = (ref) => Boolean(ref) && typeof ref.by === "string" && isKey(ref.key);
/** @param {unknown} sign */
const isSign = (sign) =>
  typeof sign === "string" && sign.length > 0 && sign.length <= LONGEST_SIGN && !/\s/u.test(sign);
