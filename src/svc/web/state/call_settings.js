// Stores the call settings in this browser: devices, voice processing, and the volume of each member.

import { eachLike, storeValue, storedValue } from "../transport/browser_storage.js";
import { effect, signal } from "../vendor/signals.js";

const STORED_SETTINGS = "svc.callSettings";
const STORED_PEOPLE = "svc.people";
// The maximum number of members with individual settings. The oldest settings are dropped.
const MAX_PEOPLE = 500;

/** @typedef {typeof DEFAULTS} CallSettings */
const DEFAULTS = {
  microphone: "",
  camera: "",
  speaker: "", // These three are device ids; "" means the browser's default.
  echoCancellation: true,
  autoGainControl: true,
  // Noise suppression: "off", "usual" (the browser's) or "strong" (call/noise_suppression.js).
  noise: "usual",
  input: "voice", // The input mode: "voice" or "push" (push-to-talk).
  threshold: 0, // The minimum level, 0 to 1; quieter audio is not sent.
  pushKey: "Backquote",
  releaseMs: 250,
  music: false, // Send stereo audio without voice processing.
  mirror: true,
  blur: false,
  screen: "text", // "text" is sharp, "motion" is smooth.
  screenSize: "", // A key from call/encodings.js; "" for the screen's actual size.
  lessData: false, // For a metered connection: fewer frames and smaller videos, in both directions.
  quality: "automatic", // The quality of received video: "automatic", "high", "low" or "saver".
};
const NOBODY = { volume: 1, muted: false, screenVolume: 1, quality: "" };

export const callSettings = signal(storedValue(DEFAULTS, STORED_SETTINGS));
/**
 * The settings for members that differ from the defaults: {memberId: {volume: 0 to 2, muted, screenVolume: 0
 * to 2, quality}}.
 */
export const people = signal(eachLike(NOBODY, storedValue({}, STORED_PEOPLE)));

/** @param {Partial<typeof DEFAULTS>} changes */
export const setCallSettings = (changes) => {
  callSettings.value = { ...callSettings.value, ...changes };
};

/** Return the settings for this member. @param {string} memberId */
export const personSettings = (memberId) => people.value[memberId] ?? NOBODY;

/** @param {string} memberId @param {Partial<typeof NOBODY>} changes */
export function choosePerson(memberId, changes) {
  const { [memberId]: before = NOBODY, ...others } = people.value;
  const all = Object.entries({ ...others, [memberId]: { ...before, ...changes } });
  people.value = Object.fromEntries(all.slice(-MAX_PEOPLE));
}

effect(() => storeValue(STORED_SETTINGS, callSettings.value));
effect(() => storeValue(STORED_PEOPLE, people.value));

/**
 * Return the volume of a member's microphone or screen audio, 0 to 2.
 * @param {string} memberId
 * @param {string} source
 */
export function volumeOf(memberId, source) {
  const { volume, muted, screenVolume } = personSettings(memberId);
  return source === "screen_audio" ? screenVolume : muted ? 0 : volume;
}
