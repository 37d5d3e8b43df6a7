// Follows the server's pushes about private conversations, and updates the display state in
// state/private_conversations.js. See docs/private.md

/**
 * @import { PrivateConversation as Resource } from "../../types/api.js"
 * @import { Signal } from "../../vendor/signals.js"
 * @import { PrivateConversation } from "../private_conversations.js"
 * @import { Change } from "./device_changes.js"
 * @import { Payload, DecryptedMessage } from "./content.js"
 * @import { Entry } from "./log_entries.js"
 * @import { Own } from "./own_identity.js"
 * @import { Waiting } from "./unsent_messages.js"
 */

import { explain, t } from "../../words/words.js";
import { ringPrivately } from "../alerts.js";
import { channelsById } from "../channels.js";
import { memberOf } from "../people.js";
import { notify } from "../notices.js";
import {
  nameOf,
  notes,
  problems,
  privateMessages,
  conversations,
  conversationsKnown,
  unsent,
} from "../private_conversations.js";
import { member } from "../server.js";
import { noteOf, removerOf } from "./device_changes.js";
import { emptied, contentOf } from "./content.js";
import { answerIn, asksIn, earlierOf, othersOfOurs } from "./history_messages.js";
import { close, namesOf } from "./files.js";
import { noteUnknown } from "./known_devices.js";
import { codeOf, devicesIn, isVerified, thisDevice } from "./safety_numbers.js";
import { Withheld } from "./other_devices.js";
import { inCalls, isStill, start, takePart } from "./own_identity.js";
import { encryptedFilesIn } from "./file_encryption.js";
import { unsentOf } from "./unsent_messages.js";

/** The conversations to read next: ids, or null for all. @type {Set<string | null>} */
let requested = new Set();
/** @type {Promise<void> | null} */
let reading = null;
/**
 * Maps each conversation to the first message that should ring and has arrived since the log was last read.
 * @type {Map<string | null, number>}
 */
const arrived = new Map();
/** The histories by conversation. @type {Map<string, Entry[]>} */
const entries = new Map();
/** The names by conversation. @type {Map<string, string>} */
const names = new Map();
/**
 * The messages that this page is sending, by key.
 * @type {Map<string, {id: string, said: Payload, atMs: number, refused?: undefined}>}
 */
export const leaving = new Map();

/**
 * Maps each conversation to another device's answer that must be imported.
 * @type {Map<string, Payload | undefined>}
 */
export const coming = new Map();

/** Conversations that this page has left, for which no notice is needed. @type {Set<string>} */
export const left = new Set();

/** @type {((id: string) => Promise<void>)[]} */
const readers = [];

/** Add a function to call after each read of a log. @param {(id: string) => Promise<void>} act */
export const onRead = (act) => readers.push(act);

/** Register this device and read the logs of all conversations. */
export function refresh() {
  for (const call of inCalls.values()) call.look();
  return look(null);
}

/** @param {string} event @param {object} data */
export async function received(event, data) {
  if (event === "private_keys_low") {
    await start()
      .then(({ device }) => device.prepare())
      .catch(reportOurs); // The log is read again when the page is next loaded.
    return;
  }
  const {
    conversation_id: id = null,
    kind,
    seq,
  } = /** @type {{conversation_id?: string, kind?: string, seq: number}} */ (data);
  if (id !== null && channelsById.value.has(id)) {
    inCalls.get(id)?.look();
    return;
  }
  if (kind === "message" && !arrived.has(id)) arrived.set(id, seq);
  await look(id);
}

/**
 * Read this conversation, or all of them. Requests made during a read are served right after it.
 * @param {string | null} id
 * @returns {Promise<void>}
 */
export function look(id) {
  requested.add(id);
  reading ??= work().finally(() => {
    reading = null;
  });
  return reading;
}

async function work() {
  while (requested.size && member.value) {
    const all = requested.has(null);
    const wanted = /** @type {string[]} */ ([...requested]);
    requested = new Set();
    try {
      await read(all ? null : wanted);
    } catch (/** @type {any} */ error) {
      if (!member.value) return; // After signing out, errors are not reported.
      reportOurs(error);
      for (const id of all ? conversations.value.map((conversation) => conversation.id) : wanted)
        put(problems, id, error instanceof Withheld ? "withheld" : explain(error));
    }
  }
}

/**
 * Report a fault in this page's code. Error responses and network failures are not reported.
 * @param {any} error
 */
function reportOurs(error) {
  if (
    member.value &&
    error.status === undefined &&
    error.code !== "unreachable" &&
    !(error instanceof Withheld)
  )
    reportError(error);
}

/** @param {string[] | null} ids */
async function read(ids) {
  const mine = await takePart();
  const resources = await mine.device.sync(ids);
  if (!isStill(mine)) return; // Another member has signed in since then.
  const changed = ids ?? resources.map(({ id }) => id);
  const known = new Map(conversations.value.map((conversation) => [conversation.id, conversation]));
  const all = await Promise.all(
    resources.map(async (each) =>
      changed.includes(each.id) || !known.has(each.id)
        ? described(mine, each)
        : /** @type {PrivateConversation} */ (known.get(each.id)),
    ),
  );
  const begun = conversations.value.filter(
    (conversation) =>
      conversation.stands === "loading" && !resources.some(({ id }) => id === conversation.id),
  );
  for (const conversation of conversations.value.filter(
    ({ id, stands }) => stands !== "loading" && !left.has(id) && !resources.some((each) => each.id === id),
  ))
    notify(t("private-no-longer", { name: nameOf(conversation) }));
  conversations.value = [...begun, ...all].sort((one, other) => other.lastMs - one.lastMs);
  conversationsKnown.value = true;
  for (const id of changed) {
    put(problems, id, undefined);
    for (const act of readers) act(id).catch(reportOurs);
  }
}

/**
 * Return a conversation for display, after reading its new entries.
 * @param {Own} mine
 * @param {Resource} resource
 * @returns {Promise<PrivateConversation>}
 */
async function described(
  mine,
  { id, members, between_two: two, created_at_ms: createdMs, epoch, devices, lacking },
) {
  const { kept, memberId } = mine;
  const fresh = await takeOver(mine, id);
  const inGroup = await devicesIn(id);
  const history = /** @type {Entry[]} */ (entries.get(id));
  const last = history.at(-1) ?? { seq: 0, sentAtMs: Date.now() };
  if (inGroup) await noteUnknown(kept, id, inGroup, last);
  /** @type {Change[]} */
  const changes = (await kept.under(`changes/${id}/`)).sort((one, other) => one.seq - other.seq);
  const { removals } = contentOf(history);
  const remover = (/** @type {Change} */ change) => (/** @type {string} */ memberId) =>
    removerOf(change, memberId, changes, removals);
  put(
    notes,
    id,
    changes.map((change) => ({
      id: `change ${change.seq} ${change.added.length} ${change.trouble ?? ""}`,
      seq: change.seq,
      posted_at_ms: change.sentAtMs,
      note: noteOf(change, two, remover(change)),
    })),
  );
  const messages = /** @type {DecryptedMessage[]} */ (privateMessages.value.get(id));
  const upTo = (await kept.get(`read/${id}`)) ?? 0;
  const isNew = (/** @type {DecryptedMessage} */ message) =>
    message.seq > upTo && !message.trouble && message.memberId !== memberId;
  ring(
    id,
    messages
      .filter(
        (message) =>
          fresh.has(message.seq) && isNew(message) && message.seq >= /** @type {number} */ (arrived.get(id)),
      )
      .at(-1),
  );
  const inside = Boolean(await kept.get(`group/${id}`));
  const takesPart = [...devices.filter((each) => !each.gone), ...lacking].some(
    (each) => each.member_id !== memberId,
  );
  const stands = !takesPart ? "alone" : !inside && epoch > 0 ? "outside" : "ready";
  const own = await thisDevice();
  const ours = othersOfOurs(inGroup, { devices }, own);
  const earlier = await earlierOf(kept, id, ours);
  coming.set(id, await answerIn(kept, id, history, own, ours));
  const asks = asksIn(history, own, ours);
  return {
    id,
    members,
    two,
    name: names.get(id) ?? "",
    unread: messages.filter(isNew).length,
    lastMs: messages.at(-1)?.sentAtMs ?? createdMs,
    stands,
    verified: await isVerified(id),
    earlier,
    code: await codeOf(own),
    asks: await Promise.all(
      asks.map(async (ask) => ({ ...ask, code: await codeOf({ memberId, thumbprint: ask.thumbprint }) })),
    ),
  };
}

/**
 * Show the stored state of a conversation. Resolves with the numbers of its new entries.
 * @param {Own} mine
 * @param {string} id
 */
async function takeOver({ kept, memberId }, id) {
  // Read the unsent messages first, so that a message that is sent in the meantime is in both lists rather
  // than in neither.
  const waiting = await unsentOf(kept, id);
  const before = entries.get(id) ?? [];
  const known = new Set(before.map(({ seq }) => seq));
  const there = (await kept.names(`history/${id}/`)).filter(
    (name) => !known.has(Number(name.split("/").at(-1))),
  );
  /** @type {Entry[]} */
  const fresh = await Promise.all(there.map((name) => kept.get(name)));
  entries.set(id, fresh.length ? [...before, ...fresh].sort((one, other) => one.seq - other.seq) : before);
  await empty(kept, id);
  show(id, memberId, waiting);
  return new Set(fresh.map(({ seq }) => seq));
}

/** Erase messages that their author has deleted. @param {Own["kept"]} kept @param {string} id */
async function empty(kept, id) {
  const { emptying } = contentOf(/** @type {Entry[]} */ (entries.get(id)));
  if (!emptying.length) return;
  const all = /** @type {Entry[]} */ (entries.get(id)).map((entry) =>
    emptying.includes(entry.seq) ? { ...entry, said: emptied(entry.said) } : entry,
  );
  const files = /** @type {Entry[]} */ (entries.get(id))
    .filter(({ seq }) => emptying.includes(seq))
    .flatMap(({ said: payload }) => encryptedFilesIn(payload?.files));
  for (const { id: fileId } of files) close(fileId);
  await kept.put([
    ...all
      .filter(({ seq }) => emptying.includes(seq))
      .map((entry) => /** @type {[string, unknown]} */ ([`history/${id}/${entry.seq}`, entry])),
    ...namesOf(id, files).map((name) => /** @type {[string, unknown]} */ ([name, undefined])),
  ]);
  entries.set(id, all);
}

/**
 * Show the history and the outgoing entries. Outgoing messages are listed at the end. Any other outgoing
 * entry is shown as if it had been sent.
 * @param {string} id
 * @param {string} memberId
 * @param {Waiting[]} kept
 */
function show(id, memberId, kept) {
  const history = entries.get(id) ?? [];
  const there = new Set(
    history.filter((entry) => entry.memberId === memberId).map((entry) => entry.said?.key),
  );
  const inPage = [...leaving.values()].filter(
    (each) => each.id === id && !kept.some((other) => other.said.key === each.said.key),
  );
  const waiting = [...kept, ...inPage].filter((each) => !there.has(each.said.key));
  const isMessage = (/** @type {Waiting} */ each) => each.said.type === "message";
  const done = waiting
    .filter((each) => !isMessage(each) && !each.refused)
    .map((each) => ({ seq: Infinity, memberId, said: each.said, sentAtMs: each.atMs }));
  const { messages, name } = contentOf([...history, ...done]);
  names.set(id, name);
  put(privateMessages, id, messages);
  put(
    unsent,
    id,
    waiting.filter(isMessage).map(({ said: payload, atMs, refused }) => ({
      key: payload.key,
      text: payload.text,
      files: encryptedFilesIn(payload.files),
      atMs,
      state: leaving.has(payload.key) ? "sending" : refused ? "refused" : "waiting",
      problem: refused ? explain(refused) : "",
    })),
  );
}

/** Show a conversation again after its outgoing messages have changed. @param {string} id */
export async function showAgain(id) {
  const { kept, memberId } = await start();
  show(id, memberId, await unsentOf(kept, id));
}

/** @param {string} conversationId @param {DecryptedMessage} [message] */
function ring(conversationId, message) {
  if (!message) return;
  arrived.delete(conversationId);
  const { seq, memberId, text, files } = message;
  ringPrivately({
    conversationId,
    seq,
    memberId,
    name: memberOf(memberId)?.nickname ?? t("somebody"),
    text: text || t("file-count", { count: files.length }),
  });
}

/** Mark this conversation as read. @param {string} id */
export async function markRead(id) {
  const last = entries.get(id)?.at(-1)?.seq ?? 0;
  const { kept } = await start();
  await kept.put([[`read/${id}`, last]]);
  conversations.value = conversations.value.map((conversation) =>
    conversation.id === id ? { ...conversation, unread: 0 } : conversation,
  );
}

/** Return the id of the conversation with these members, creating it if needed. @param {string[]} memberIds
 */
export async function begin(memberIds) {
  const { device } = await start();
  const { id, members, between_two: two } = await device.openWith(memberIds);
  if (!conversations.value.some((conversation) => conversation.id === id))
    conversations.value = [
      {
        id,
        members,
        two,
        name: "",
        unread: 0,
        lastMs: Date.now(),
        stands: "loading",
        verified: "no",
        earlier: "",
        code: [],
        asks: [],
      },
      ...conversations.value,
    ];
  look(id);
  return id;
}

/** Delete all stored data of a conversation that we have left. @param {string} id */
export async function forgetConversation(id) {
  const { kept } = await start();
  const all = await Promise.all(
    ["history", "waiting", "changes", "file"].map((kind) => kept.names(`${kind}/${id}/`)),
  );
  const single = ["group", "read", "greet", "verified", "known", "since", "asked"].map(
    (kind) => `${kind}/${id}`,
  );
  await kept.put([...single, ...all.flat()].map((name) => [name, undefined]));
  for (const each of [arrived, coming, entries, names]) each.delete(id);
  for (const each of [privateMessages, unsent, problems, notes])
    put(/** @type {Signal<Map<string, unknown>>} */ (each), id, undefined);
  conversations.value = conversations.value.filter((conversation) => conversation.id !== id);
}

/**
 * @template V
 * @param {Signal<Map<string, V>>} all @param {string} id @param {V | undefined} value
 */
function put(all, id, value) {
  const next = new Map(all.value);
  if (value === undefined) next.delete(id);
  else next.set(id, value);
  all.value = next;
}

export function forgetRead() {
  requested = new Set();
  for (const all of [arrived, coming, entries, leaving, left, names]) all.clear();
}
