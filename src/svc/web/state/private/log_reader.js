// Reads the logs of private conversations when the server pushes changes, and updates the state that views
// display, in state/private_conversations.js. See docs/private.md.

/**
 * @import { PrivateConversation as Resource } from "../../types/api.js"
 * @import { Signal } from "../../vendor/signals.js"
 * @import { PrivateConversation } from "../private_conversations.js"
 * @import { Change } from "./device_changes.js"
 * @import { Payload, DecryptedMessage } from "./content.js"
 * @import { Entry } from "./apply_log_entry.js"
 * @import { Identity } from "./own_identity.js"
 * @import { WaitingMessage } from "./unsent_messages.js"
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
import { contentOf, emptied, idOf } from "./content.js";
import {
  transferResponseIn,
  transferRequestsIn,
  transferStateOf,
  ownOtherDevices,
} from "./history_messages.js";
import { releaseFile, namesOf } from "./files.js";
import { noteUnknown } from "./known_devices.js";
import { codeOf, devicesIn, isVerified, thisDevice } from "./safety_numbers.js";
import { WithheldEntryError } from "./other_devices.js";
import { channelCalls, isCurrent, ownIdentity, registeredIdentity } from "./own_identity.js";
import { encryptedFilesIn } from "./file_encryption.js";
import { unsentOf } from "./unsent_messages.js";

/** The conversations to read next: ids, or null for all. @type {Set<string | null>} */
let requested = new Set();
/** @type {Promise<void> | null} */
let reading = null;
/**
 * For each conversation, the number of the first message that has arrived since the log was last read and
 * should trigger an alert.
 * @type {Map<string | null, number>}
 */
const newSince = new Map();
/** The histories, by conversation. @type {Map<string, Entry[]>} */
const entries = new Map();
/** The names of the conversations, by id. @type {Map<string, string>} */
const names = new Map();
/**
 * The messages that this tab is sending, by key.
 * @type {Map<string, {id: string, said: Payload, atMs: number, refused?: undefined}>}
 */
export const leaving = new Map();

/**
 * For each conversation, the response from another device that must be imported.
 * @type {Map<string, Payload | undefined>}
 */
export const transferResponses = new Map();

/** Conversations that the member has left in this tab, for which no notice is needed. @type {Set<string>} */
export const leftConversations = new Set();

/** @type {((id: string) => Promise<void>)[]} */
const readers = [];

/** Register a function to call each time a log has been read. @param {(id: string) => Promise<void>} act */
export const onRead = (act) => readers.push(act);

/** Register this device and read the logs of all conversations. */
export function refresh() {
  for (const call of channelCalls.values()) call.synchronise();
  return synchronise(null);
}

/** @param {string} event @param {object} data */
export async function handlePush(event, data) {
  if (event === "private_keys_low") {
    await ownIdentity()
      .then(({ device }) => device.prepare())
      .catch(reportOwnError); // The log is read again after a reload.
    return;
  }
  const {
    conversation_id: id = null,
    kind,
    seq,
  } = /** @type {{conversation_id?: string, kind?: string, seq: number}} */ (data);
  if (id !== null && channelsById.value.has(id)) {
    channelCalls.get(id)?.synchronise();
    return;
  }
  if (kind === "message" && !newSince.has(id)) newSince.set(id, seq);
  await synchronise(id);
}

/**
 * Read the log of this conversation, or of all conversations if null. A request made during a read is handled
 * right after it.
 * @param {string | null} id
 * @returns {Promise<void>}
 */
export function synchronise(id) {
  requested.add(id);
  reading ??= readRequested().finally(() => {
    reading = null;
  });
  return reading;
}

async function readRequested() {
  while (requested.size && member.value) {
    const all = requested.has(null);
    const wanted = /** @type {string[]} */ ([...requested]);
    requested = new Set();
    try {
      await read(all ? null : wanted);
    } catch (/** @type {any} */ error) {
      if (!member.value) return; // Do not report errors after signing out.
      reportOwnError(error);
      for (const id of all ? conversations.value.map((conversation) => conversation.id) : wanted)
        put(problems, id, error instanceof WithheldEntryError ? "withheld" : explain(error));
    }
  }
}

/**
 * Report an error caused by a bug in our code. Ignore error responses and network failures.
 * @param {any} error
 */
function reportOwnError(error) {
  if (
    member.value &&
    error.status === undefined &&
    error.code !== "unreachable" &&
    !(error instanceof WithheldEntryError)
  )
    reportError(error);
}

/** @param {string[] | null} ids */
async function read(ids) {
  const identity = await registeredIdentity();
  const resources = await identity.device.sync(ids);
  if (!isCurrent(identity)) return; // Another member has since signed in.
  const changed = ids ?? resources.map(({ id }) => id);
  const known = new Map(conversations.value.map((conversation) => [conversation.id, conversation]));
  const all = await Promise.all(
    resources.map(async (resource) =>
      changed.includes(resource.id) || !known.has(resource.id)
        ? conversationFor(identity, resource)
        : /** @type {PrivateConversation} */ (known.get(resource.id)),
    ),
  );
  const begun = conversations.value.filter(
    (conversation) =>
      conversation.stands === "loading" && !resources.some(({ id }) => id === conversation.id),
  );
  for (const conversation of conversations.value.filter(
    ({ id, stands }) =>
      stands !== "loading" && !leftConversations.has(id) && !resources.some((resource) => resource.id === id),
  ))
    notify(t("private-no-longer", { name: nameOf(conversation) }));
  conversations.value = [...begun, ...all].sort((a, b) => b.lastMs - a.lastMs);
  conversationsKnown.value = true;
  for (const id of changed) {
    put(problems, id, undefined);
    for (const act of readers) act(id).catch(reportOwnError);
  }
}

/**
 * Read a conversation's new entries. Return the state that views display.
 * @param {Identity} identity
 * @param {Resource} resource
 * @returns {Promise<PrivateConversation>}
 */
async function conversationFor(
  identity,
  { id, members, between_two: two, created_at_ms: createdMs, epoch, devices, lacking },
) {
  const { store, memberId } = identity;
  const fresh = await loadEntries(identity, id);
  const inGroup = await devicesIn(id);
  const history = /** @type {Entry[]} */ (entries.get(id));
  const last = history.at(-1) ?? { seq: 0, sentAtMs: Date.now() };
  if (inGroup) await noteUnknown(store, id, inGroup, last);
  /** @type {Change[]} */
  const changes = (await store.under(`changes/${id}/`)).sort((a, b) => a.seq - b.seq);
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
  const upTo = (await store.get(`read/${id}`)) ?? 0;
  const isNew = (/** @type {DecryptedMessage} */ message) =>
    message.seq > upTo && !message.trouble && message.memberId !== memberId;
  ring(
    id,
    messages
      .filter(
        (message) =>
          fresh.has(message.seq) && isNew(message) && message.seq >= /** @type {number} */ (newSince.get(id)),
      )
      .at(-1),
  );
  const inside = Boolean(await store.get(`group/${id}`));
  const takesPart = [...devices.filter((device) => !device.gone), ...lacking].some(
    (device) => device.member_id !== memberId,
  );
  const stands = !takesPart ? "alone" : !inside && epoch > 0 ? "outside" : "ready";
  const own = await thisDevice();
  const ours = ownOtherDevices(inGroup, { devices }, own);
  const earlier = await transferStateOf(store, id, ours);
  transferResponses.set(id, await transferResponseIn(store, id, history, own, ours));
  const asks = transferRequestsIn(history, own, ours);
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
 * @param {Identity} identity
 * @param {string} id
 */
async function loadEntries({ store, memberId }, id) {
  // Read the unsent messages first. If one is sent in the meantime, it is then in both lists rather than in
  // neither.
  const waiting = await unsentOf(store, id);
  const before = entries.get(id) ?? [];
  const known = new Set(before.map(({ seq }) => seq));
  const present = (await store.names(`history/${id}/`)).filter(
    (name) => !known.has(Number(name.split("/").at(-1))),
  );
  /** @type {Entry[]} */
  const fresh = await Promise.all(present.map((name) => store.get(name)));
  entries.set(id, fresh.length ? [...before, ...fresh].sort((a, b) => a.seq - b.seq) : before);
  await empty(store, id);
  publish(id, memberId, waiting);
  return new Set(fresh.map(({ seq }) => seq));
}

/**
 * Erase the content of messages that their authors have deleted.
 * @param {Identity["store"]} store
 * @param {string} id
 */
async function empty(store, id) {
  const { emptying } = contentOf(/** @type {Entry[]} */ (entries.get(id)));
  if (!emptying.length) return;
  const all = /** @type {Entry[]} */ (entries.get(id)).map((entry) =>
    emptying.includes(entry.seq) ? { ...entry, said: emptied(entry.said) } : entry,
  );
  const files = /** @type {Entry[]} */ (entries.get(id))
    .filter(({ seq }) => emptying.includes(seq))
    .flatMap(({ said: payload }) => encryptedFilesIn(payload?.files));
  for (const { id: fileId } of files) releaseFile(fileId);
  await store.put([
    ...all
      .filter(({ seq }) => emptying.includes(seq))
      .map((entry) => /** @type {[string, unknown]} */ ([`history/${id}/${entry.seq}`, entry])),
    ...namesOf(id, files).map((name) => /** @type {[string, unknown]} */ ([name, undefined])),
  ]);
  entries.set(id, all);
}

/**
 * Show the history and the outgoing entries. List outgoing messages at the end. Show other outgoing entries,
 * such as reactions, as if they had been sent.
 * @param {string} id
 * @param {string} memberId
 * @param {WaitingMessage[]} stored
 */
function publish(id, memberId, stored) {
  const history = entries.get(id) ?? [];
  const present = new Set(
    history.filter((entry) => entry.memberId === memberId).map((entry) => entry.said?.key),
  );
  const inPage = [...leaving.values()].filter(
    (message) => message.id === id && !stored.some((other) => other.said.key === message.said.key),
  );
  const waiting = [...stored, ...inPage].filter((message) => !present.has(message.said.key));
  const isMessage = (/** @type {WaitingMessage} */ message) => message.said.type === "message";
  const done = waiting
    .filter((message) => !isMessage(message) && !message.refused)
    .map((message) => ({ seq: Infinity, memberId, said: message.said, sentAtMs: message.atMs }));
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
      reply: payload.reply ? { id: idOf(payload.reply) } : null,
      atMs,
      state: leaving.has(payload.key) ? "sending" : refused ? "refused" : "waiting",
      problem: refused ? explain(refused) : "",
    })),
  );
}

/** Update the displayed conversation after its outgoing messages have changed. @param {string} id */
export async function republish(id) {
  const { store, memberId } = await ownIdentity();
  publish(id, memberId, await unsentOf(store, id));
}

/** @param {string} conversationId @param {DecryptedMessage} [message] */
function ring(conversationId, message) {
  if (!message) return;
  newSince.delete(conversationId);
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
  const { store } = await ownIdentity();
  await store.put([[`read/${id}`, last]]);
  conversations.value = conversations.value.map((conversation) =>
    conversation.id === id ? { ...conversation, unread: 0 } : conversation,
  );
}

/** Return the id of the conversation with these members. Create it if needed. @param {string[]} memberIds
 */
export async function createConversation(memberIds) {
  const { device } = await ownIdentity();
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
  synchronise(id);
  return id;
}

/** Delete all stored data about a conversation that we have left. @param {string} id */
export async function forgetConversation(id) {
  const { store } = await ownIdentity();
  const all = await Promise.all(
    ["history", "waiting", "changes", "file"].map((kind) => store.names(`${kind}/${id}/`)),
  );
  const single = ["group", "read", "greet", "verified", "known", "since", "asked"].map(
    (kind) => `${kind}/${id}`,
  );
  await store.put([...single, ...all.flat()].map((name) => [name, undefined]));
  for (const map of [newSince, transferResponses, entries, names]) map.delete(id);
  for (const signal of [privateMessages, unsent, problems, notes])
    put(/** @type {Signal<Map<string, unknown>>} */ (signal), id, undefined);
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

export function clearHistory() {
  requested = new Set();
  for (const all of [newSince, transferResponses, entries, leaving, leftConversations, names]) all.clear();
}
