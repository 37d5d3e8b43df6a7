// What the person wants of calls: devices, how their voice is taken, how loud each person is. Kept in this browser.

import { eachLike, keep, keptLike } from "../transport/kept.js";
import { effect, signal } from "../vendor/signals.js";

const KEPT = "svc.callSettings";
const KEPT_PEOPLE = "svc.people";
const MOST_PEOPLE = 500; // Of whom something is remembered; the oldest go.

/** @typedef {typeof USUAL} CallSettings */
const USUAL = {
  microphone: "", camera: "", speaker: "", // Ids of devices; "" for what the browser takes.
  echoCancellation: true, autoGainControl: true,
  noise: "usual", // "off", "usual" (the browser's) or "strong" (call/noise.js).
  input: "voice", // "voice" or "push" (to talk).
  threshold: 0, // Of the level, 0 to 1; what is quieter is not sent.
  pushKey: "Backquote", releaseMs: 250,
  music: false, // Stereo, nothing filtered.
  mirror: true, blur: false, screen: "text", // "text" is sharp, "motion" is smooth.
  quality: "automatic", // What we receive: "automatic", "high", "low" or "saver".
};
const NOBODY = { volume: 1, muted: false, screenVolume: 1, quality: "" };

export const callSettings = signal(keptLike(USUAL, KEPT));
/** {memberId: {volume: 0 to 2, muted, screenVolume: 0 to 2, quality}}, of those for whom it is not the usual. */
export const people = signal(eachLike(NOBODY, keptLike({}, KEPT_PEOPLE)));

/** @param {Partial<typeof USUAL>} changes */
export const chooseForCalls = (changes) => { callSettings.value = { ...callSettings.value, ...changes }; };

/** What is remembered of this person. @param {string} memberId */
export const wishesFor = (memberId) => people.value[memberId] ?? NOBODY;

/** @param {string} memberId @param {Partial<typeof NOBODY>} changes */
export function choosePerson(memberId, changes) {
  const { [memberId]: before = NOBODY, ...others } = people.value;
  const all = Object.entries({ ...others, [memberId]: { ...before, ...changes } });
  people.value = Object.fromEntries(all.slice(-MOST_PEOPLE));
}

effect(() => keep(KEPT, callSettings.value));
effect(() => keep(KEPT_PEOPLE, people.value));

/** How loud somebody's microphone or the sound of their screen shall be, 0 to 2. @param {string} memberId @param {string} source */
export function volumeOf(memberId, source) {
  const { volume, muted, screenVolume } = wishesFor(memberId);
  return source === "screen_audio" ? screenVolume : muted ? 0 : volume;
}
