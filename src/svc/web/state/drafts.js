// Stores drafts by conversation key. A draft is stored in this browser as it is typed. A channel's draft is
// also stored on the server a moment later, and sent to our other devices.

/** @import { Draft, Message } from "../types/api.js" */
/** @import { Signal } from "../vendor/signals.js" */
/** @import { Names } from "./mention_text.js" */

import { eachLike, storeValue, storedValue } from "../transport/browser_storage.js";
import { effect, signal } from "../vendor/signals.js";
import { ask, listen, unhurried } from "./server.js";
import { channelAndThreadOf } from "./channels.js";
import { uploadsOf } from "./uploads.js";

const QUIET_MS = 1000; // The pause in typing after which the draft is sent to the server.
// In localStorage: {channelId: {text, saved}}, in case the page is closed before the server has the draft.
const STORED_DRAFTS = "svc.drafts";

/**
 * @typedef {{message: Message, ping: boolean} | null} Reply
 * @typedef {{text: Signal<string>, names: Names, reply: Signal<Reply>, timer: number, saved: string, put:
 *   Set<string>, restoring: boolean, gone: boolean}} Written `put` contains the drafts that this tab saved
 *   and that the server has not pushed back yet. `gone` means that the draft was sent before the server sent
 *   its drafts.
 */

/** The drafts, by conversation key. @type {Map<string, Written>} */
const drafts = new Map();
// Whether the server has sent its drafts since the last greeting. Until then, do not overwrite them.
let known = false;

/**
 * Return a conversation's draft, with the signals `text` and `reply`. state/mention_text.js describes
 * `names`. `reply` is {message, ping} or null, and exists only in this tab.
 * @param {string} channelId
 */
export function draftOf(channelId) {
  let draft = drafts.get(channelId);
  if (!draft) {
    const { text, saved } = keptHere()[channelId] ?? { text: "", saved: "" };
    draft = {
      text: signal(text),
      names: new Map(),
      reply: signal(/** @type {Reply} */ (null)),
      timer: 0,
      saved,
      put: new Set(),
      restoring: false,
      gone: false,
    };
    drafts.set(channelId, draft);
    // Save the draft whenever its uploaded files change.
    let before = "";
    effect(() => {
      const now = String(
        uploadsOf(channelId)
          .list.value.filter(({ state }) => state === "done")
          .map(({ id }) => id),
      );
      if (now !== before) later(channelId);
      before = now;
    });
  }
  return draft;
}

/** Set the text of a draft. @param {string} channelId @param {string} text */
export function write(channelId, text) {
  const draft = draftOf(channelId);
  draft.text.value = text;
  keepHere(channelId);
  later(channelId);
}

/** @param {string} channelId */
function later(channelId) {
  const draft = draftOf(channelId);
  clearTimeout(draft.timer);
  draft.timer = setTimeout(() => save(channelId), QUIET_MS);
}

/** Save all pending drafts now. Resolves when the requests have succeeded or failed. */
export async function saveAll() {
  await Promise.all([...drafts.keys()].map(save));
}

/** Delete a draft that was sent or discarded. @param {string} channelId */
export function clear(channelId) {
  const draft = draftOf(channelId);
  clearTimeout(draft.timer);
  draft.text.value = "";
  draft.names.clear();
  draft.reply.value = null;
  draft.gone = !known;
  keepHere(channelId);
  save(channelId);
}

/** @param {string} channelId */
async function save(channelId) {
  const draft = draftOf(channelId);
  if (channelAndThreadOf(channelId).thread) return; // The server stores no drafts for threads.
  if (!known || draft.restoring) {
    later(channelId);
    return;
  }
  const [text, attachments] = [draft.text.value, uploadsOf(channelId).ready];
  const now = JSON.stringify([text, attachments]);
  if (now === draft.saved || (!text && !attachments.length && !draft.saved)) return;
  const before = draft.saved;
  draft.saved = text || attachments.length ? now : "";
  if (draft.saved) draft.put.add(now);
  const saving = draft.saved
    ? ask("draft_put", { channel_id: channelId, text, attachments })
    : ask("draft_delete", { channel_id: channelId });
  try {
    await saving;
  } catch (/** @type {any} */ error) {
    draft.saved = before;
    draft.put.delete(now);
    if (error.code === "unreachable" && drafts.get(channelId) === draft) later(channelId);
  }
  if (drafts.get(channelId) === draft) keepHere(channelId); // The member may have signed out in the meantime.
}

/**
 * Store the text in this browser. A draft with files is stored only on the server, because its files exist
 * only there.
 * @param {string} channelId
 */
function keepHere(channelId) {
  const { text, saved } = draftOf(channelId);
  const all = keptHere();
  if (text.value) all[channelId] = { text: text.value, saved: hasFiles(saved) ? "" : saved };
  else delete all[channelId];
  storeValue(STORED_DRAFTS, all);
}

const keptHere = () => eachLike({ text: "", saved: "" }, storedValue({}, STORED_DRAFTS));

/** Return whether a stored draft has files. A malformed stored value has none. @param {string} saved */
function hasFiles(saved) {
  try {
    return JSON.parse(saved)[1].length > 0;
  } catch {
    return false;
  }
}

/**
 * Apply a draft that was written in another tab or on another device, or before a reload.
 * @param {Draft} draft
 */
function take({ channel_id: channelId, text, attachments }) {
  const draft = draftOf(channelId);
  const written = JSON.stringify([text, attachments]);
  const untouched =
    !draft.gone &&
    (draft.saved
      ? JSON.stringify([draft.text.value, uploadsOf(channelId).ready]) === draft.saved
      : !draft.text.value);
  draft.saved = written;
  // Text being typed here takes precedence, and will soon be saved with the files.
  if (untouched) draft.text.value = text;
  keepHere(channelId);
  if (!attachments.length || (!untouched && uploadsOf(channelId).list.value.length)) return;
  draft.restoring = true;
  uploadsOf(channelId)
    .restore(attachments)
    .finally(() => {
      draft.restoring = false;
    });
}

/**
 * Apply all drafts from the server. Drop the drafts that it has deleted, and save those that it never
 * received.
 * @param {Draft[]} all
 */
function takeAll(all) {
  all.forEach(take);
  for (const channelId of Object.keys(keptHere())) {
    if (all.some((draft) => draft.channel_id === channelId)) continue;
    if (draftOf(channelId).saved) dropped(channelId);
    else later(channelId);
  }
  for (const draft of drafts.values()) draft.gone = false;
}

/** Drop a draft that was sent or discarded on another device. @param {string} channelId */
function dropped(channelId) {
  const draft = draftOf(channelId);
  const untouched = JSON.stringify([draft.text.value, uploadsOf(channelId).ready]) === draft.saved;
  if (untouched) draft.text.value = "";
  draft.saved = "";
  keepHere(channelId);
}

function askDrafts() {
  for (const { put } of drafts.values()) put.clear();
  const before = known;
  known = false;
  ask("drafts").then(
    ({ drafts: all }) => {
      takeAll(all);
      known = true;
    },
    () => {
      known = before;
    },
  );
}

listen({
  onGreeting: () => unhurried(askDrafts),
  onPush(event, data) {
    // Ignore our own change, because the draft may have been sent since then.
    if (
      event === "draft_changed" &&
      !draftOf(data.channel_id).put.delete(JSON.stringify([data.text, data.attachments]))
    )
      take(data);
    // Ignore the deletion if we have saved a newer draft since then.
    if (event === "draft_deleted" && !draftOf(data.channel_id).put.size) dropped(data.channel_id);
  },
  onSignOut() {
    for (const { timer } of drafts.values()) clearTimeout(timer);
    drafts.clear();
    known = false;
    storeValue(STORED_DRAFTS, null);
  },
});
