// Private conversations as they are shown: which there are, what was said, what is unread. What reads and writes them is
// fetched a while after the greeting, or when somebody wants it. docs/private.md

/**
 * @import { Member } from "../types/api.js"
 * @import { Signal } from "../vendor/signals.js"
 * @import { Ref, Told } from "./private/content.js"
 * @import { Ask, Earlier } from "./private/earlier.js"
 * @import { Opened } from "./private/files.js"
 * @import { FileSaid } from "./private/sealed.js"
 * @import { PrivateUploads } from "./private/uploads.js"
 *
 * @typedef {{id: string, members: string[], two: boolean, name: string, unread: number, lastMs: number, stands: "loading" | "alone" | "outside" | "ready", verified: "yes" | "lost" | "no",
 *   earlier: Earlier, code: string[], asks: (Ask & {code: string[]})[]}} Talk `code` is the number of this device, as of others that ask
 * @typedef {{key: string, text: string, files: FileSaid[], atMs: number, state: "sending" | "refused" | "waiting", problem: string}} Unsent
 * @typedef {{id: string, seq: number, posted_at_ms: number, note: {what: string, memberId: string, by?: string}[]}} Noted
 * @typedef {typeof import("./private/running.js").running} Running
 */

import { computed, signal } from "../vendor/signals.js";
import { listed, t } from "../words/words.js";
import { blocked, memberOf, members } from "./people.js";
import { openTalk, place } from "./place.js";
import { listen, member } from "./server.js";

const CALM_MS = 4000; // After the greeting: first the page is to be there.

/** [{id, members, two, name, unread, lastMs, stands, verified, earlier, code, asks}], the newest first. @type {Signal<Talk[]>} */
export const talks = signal([]);
export const talksById = computed(() => new Map(talks.value.map((talk) => [talk.id, talk])));
/** Do we know which there are? */
export const talksKnown = signal(false);
/** How many messages nobody has read here, of those whom we have not blocked. */
export const privateUnread = computed(() => talks.value.reduce((sum, talk) => sum + (isBlocked(talk) ? 0 : talk.unread), 0));
/** By conversation: the messages as private/content.js tells them. @type {Signal<Map<string, Told[]>>} */
export const said = signal(new Map());
/** By conversation: those of ours that are not sent. @type {Signal<Map<string, Unsent[]>>} */
export const unsent = signal(new Map());
/** By conversation: what is being written. It stays in this page until it goes. @type {Map<string, string>} */
export const begun = new Map();
/** By conversation: who came and went, [{id, seq, posted_at_ms, note}]. @type {Signal<Map<string, Noted[]>>} */
export const notes = signal(new Map());
/** The message that is being answered, as it is shown, or null. @type {Signal<{talk_id: string, id: string, ref: Ref, text: string, author: {display_name: string}, attachments: unknown[]} | null>} */
export const answering = signal(null);
/** By the id of a file: what of it is open in this page. @type {Signal<Map<string, Opened>>} */
export const opened = signal(new Map());
/** By conversation: the files of what is being written. @type {Map<string, PrivateUploads>} */
export const attaching = new Map();
/** By conversation: why it could not be read, or nothing. @type {Signal<Map<string, string>>} */
export const problems = signal(new Map());

/** @type {Promise<Running> | null} */
let running = null;
let timer = 0;

/** What reads and writes. */
export const theRunning = () => (running ??= import("./private/running.js").then((module) => module.running).catch((error) => {
  running = null;
  throw error;
}));

/** The others of a conversation. @param {Pick<Talk, "members">} talk */
export const othersOf = (talk) => talk.members.filter((id) => id !== member.value?.id);
/** @param {Pick<Talk, "name" | "members">} talk */
export const nameOf = (talk) => talk.name || listed(othersOf(talk).map((id) => memberOf(id)?.nickname ?? t("somebody"))) || t("private-alone-name");
/** @param {Pick<Talk, "two" | "members">} talk */
export const isBlocked = (talk) => talk.two && othersOf(talk).some((id) => blocked.value.has(id));

/** Open the conversation with this person, begun if there is none. Rejects as the request does. @param {string} memberId */
export async function writeTo(memberId) {
  const known = talks.value.find((talk) => talk.two && talk.members.includes(memberId));
  openTalk(known?.id ?? await (await theRunning()).begin([memberId]));
}

/** Do this with a private message. @param {keyof Running["acts"]} name @param {object} message @param {unknown[]} details @returns {Promise<void>} */
export const act = async (name, message, ...details) => /** @type {Record<string, (...given: any[]) => Promise<void>>} */ ((await theRunning()).acts)[name](message, ...details);

/** What may be said privately to this member: nothing to oneself, to programs, and to whom we have blocked. @param {Pick<Member, "id" | "bot">} to */
export const mayWriteTo = ({ id, bot }) => id !== member.value?.id && !bot && !blocked.value.has(id) && members.value.has(id);

/** @param {number} ms */
function later(ms) {
  clearTimeout(timer);
  timer = setTimeout(() => {
    const idle = globalThis.requestIdleCallback ?? ((act) => setTimeout(act));
    idle(() => theRunning().then((made) => made.refresh(), () => later(CALM_MS * 4)), { timeout: CALM_MS * 2 });
  }, ms);
}

listen({
  greet: () => later(place.value?.talkId ? 0 : CALM_MS),
  resume: () => later(0),
  hear(event, data) {
    if (!event.startsWith("private_") && event !== "member_left") return;
    if (running || event !== "member_left") theRunning().then((made) => made.heard(event, data), () => later(CALM_MS));
  },
  forget() {
    clearTimeout(timer);
    talks.value = [];
    talksKnown.value = false;
    begun.clear();
    attaching.clear();
    for (const { url } of opened.value.values()) if (url) URL.revokeObjectURL(url);
    opened.value = new Map();
    answering.value = null;
    for (const all of [said, unsent, problems, notes]) all.value = new Map();
    // Where nothing ran, something may be kept all the same.
    if (running) running.then((made) => made.forget());
    else import("../transport/private_store.js").then((store) => store.erasePrivateStore(), () => {});
  },
});
