// Our call, as the rest of the page sees it: where it is, what is received and sent, and what may be done with it.
// Joins again after a reload, and follows when a moderator moves us.

/** @import { Pushes } from "../types/api.js" */
/** @import { Signal } from "../vendor/signals.js" */
/** @import { Call } from "./call.js" */
/** @import { Publisher } from "./publisher.js" */
/** @import { Ending, Track } from "./session.js" */
/** @import { Sound } from "./sound.js" */
/** @typedef {{mic: boolean, camera: boolean}} Wish */
/** @typedef {Wish & {channelId: string, deafened?: boolean, encrypted?: boolean}} There */
/** @import { CallSettings } from "../state/call_settings.js" */

import { batch, effect, signal } from "../vendor/signals.js";
import { channelsById } from "../state/channels.js";
import { raiseHand } from "../state/gestures.js";
import { notify, tried } from "../state/notices.js";
import { open, place } from "../state/place.js";
import { isPrivateRoom, whyNotSealed } from "../state/private_calls.js";
import { theRunning } from "../state/private_talks.js";
import { onlySound } from "../state/call_layout.js";
import { callSettings, people, volumeOf } from "../state/call_settings.js";
import { ask, connection, doubtConnection, listen, member } from "../state/server.js";
import { peopleIn } from "../state/voice.js";
import { keep, keptLike } from "../transport/kept.js";
import { t } from "../words/words.js";
import { devices as there } from "./devices.js";
import { Watching } from "./watching.js";

const KEPT = "svc.call"; // In sessionStorage: where this tab was and what it sent, so that a reload comes back.
const SESSION = "sessionStorage";
const WISHES = "svc.joinWith"; // In localStorage: what we join with.

/** "none", "joining", "connected" or "reconnecting". */
export const callState = signal("none");
/** The id of its channel, or null. @type {Signal<string | null>} */
export const callChannel = signal(null);
/** What we receive. @type {Signal<Track[]>} */
export const tracks = signal([]);
/** Whose screen we could watch and do not receive: ids. @type {Signal<string[]>} */
export const unwatched = signal([]);
/** Who speaks, ids, the loudest first; ourselves too. @type {Signal<string[]>} */
export const speakers = signal([]);
/** What we send; a muted microphone is not sent. @type {Signal<{mic: boolean, camera: MediaStreamTrack | null, screen: MediaStreamTrack | null}>} */
export const sending = signal({ mic: false, camera: null, screen: null });
/** Do we hear nobody, by our own choice? */
export const deafened = signal(false);
/** Does the browser want a gesture before it plays sound? */
export const soundBlocked = signal(false);
/** What keeps the call from going on, in words; "" while nothing does. */
export const callTrouble = signal("");
/** Is it the call of a channel that was encrypted when we came? So it stays, whatever the server says later. */
export const callEncrypted = signal(false);
/** Why the last call ended, in words; "" when we left ourselves. */
export const ending = signal("");
/** What we join with: {mic, camera}. */
export const wishes = signal(keptLike({ mic: true, camera: false }, WISHES));

/** The lowest level of other people's video that was chosen automatically: 0, 1, or 2 for all; -1 where some are paused. */
export const automaticLevel = signal(2);
/** Ids of videos that our line cannot carry now. @type {Signal<string[]>} */
export const paused = signal([]);

/** @type {typeof import("./being.js") | null} */
let being = null; // Fetched with the first call.
/** @type {Sound | null} */
let sound = null; // Made with the first call.

const watching = new Watching();
/** Whose screen we want to see: ids, also of those whose picture is still on its way. */
export const watched = watching.screens;

/** @type {Call | null} */
let call = null;
/** @type {import("./layering.js").Layering | null} */
let layering = null;
let handUp = false; // It is raised again in a new session of the same call, though at the end.
let screenStopped = false; // By a moderator, until we leave the room.
/** @type {Publisher | null} */
let publisher = null;
/** @type {There | null} */
let lastPlace = null; // The room that we are or were last in, and what we sent there, until we leave it ourselves.
/** @type {There | null} */
let entering = null; // The room that we are about to enter, while what calls need is fetched.
/** @type {There | null} */
let moving = null; // Where to go when the call that is ending has ended.

/** The Call of the moment, for statistics and layers, or null. */
export const theCall = () => call;
/** What is asked for of a track; see session.js. @param {string} trackId */
export const wishOf = (trackId) => layering?.of(trackId) ?? {};

/** @param {Partial<Wish>} changes */
export function chooseWishes(changes) {
  wishes.value = { ...wishes.value, ...changes };
  keep(WISHES, wishes.value);
}

/** Enter a voice channel as `wish` says, {mic, camera}; from another call we go over as we are in it. @param {string} channelId @param {Wish} [wish] */
export function joinCall(channelId, wish = entering ?? (call && lastPlace) ?? wishes.value) {
  const there = { ...wish, channelId };
  if ((call || entering) && callChannel.value === channelId) return;
  if (!call || cannotSeal(channelId)) {
    if (call) notify(cannotSeal(channelId));
    else enter(there);
    return;
  }
  moving = there;
  call.leave();
}

export function leaveCall() {
  if (entering) {
    keep(KEPT, null, SESSION);
    over("");
  }
  call?.leave();
}
export const toggleMic = () => publisher?.toggleMic();
export const toggleCamera = () => publisher?.toggleCamera();
export function toggleScreen() {
  if (screenStopped && !sending.value.screen) notify(t("screen-stopped"));
  else publisher?.toggleScreen();
}
/** Watch somebody's screen, or not: then it is not sent to us either. @param {string} userId @param {boolean} watch */
export function watchScreen(userId, watch) {
  watching.choose(userId, watch);
  call?.review();
}
export const unblockSound = () => sound?.play();
/** The key to talk is held, or not. @param {boolean} pressed */
export const pressToTalk = (pressed) => publisher?.mic?.press(pressed);
/** How loud our own microphone is, 0 to 1; 0 while it is not open. */
export const ownLevel = () => publisher?.mic?.level() ?? 0;

/** Is our hand raised in the call that we are in? */
export const ownHand = () => peopleIn(callChannel.value ?? "").some(({ id, hand }) => id === member.value?.id && hand > 0);

export function toggleHand() {
  if (!call) return;
  handUp = !ownHand();
  tried(raiseHand(/** @type {string} */ (callChannel.value), handUp));
}

/** Hear nobody; with that one's own microphone is muted too. */
export function toggleDeafened() {
  deafened.value = !deafened.value;
  if (deafened.value && sending.value.mic) publisher?.toggleMic();
  remember();
  tell();
}

/** Be in a room until leaving it. @param {There} there */
async function enter(there) {
  const { channelId, mic, camera } = there;
  const encrypted = isEncrypted(channelId);
  const why = cannotSeal(channelId);
  if (why) {
    over(why);
    return;
  }
  entering = there;
  // Asked before anything is drawn, which takes longer than the answer.
  const requestGrant = () => (encrypted || isPrivateRoom(channelId) ? sealedGrant(channelId) : ask("voice_join", { channel_id: channelId }));
  /** @type {ReturnType<typeof requestGrant> | null} */
  let asked = requestGrant();
  asked.catch(() => {}); // Call hears of it, unless we have left by then.
  batch(() => {
    callChannel.value = channelId;
    callState.value = "joining";
    callEncrypted.value = encrypted;
    ending.value = "";
    deafened.value = there.deafened ?? false;
  });
  // Once it is here nothing is waited for: the microphone opens before anything is drawn, too.
  being ??= await import("./being.js").catch(() => null);
  if (entering !== there) return;
  if (!being) over(t("error-unreachable"));
  if (!being) return;
  entering = null;
  const { Call, Layering, Publisher, sealingOf, watchQuality } = being;
  const sounds = sound ??= made(being);
  const grantOnce = () => {
    const grant = asked ?? requestGrant();
    asked = null; // It holds for one session.
    return grant;
  };
  const tried = new URLSearchParams(location.hash.slice(1));
  const mine = new Call({ requestGrant: grantOnce, codec: tried.get("codec"), simulcast: tried.has("simulcast"), sound: () => ({ music: callSettings.value.music, kbps: kbpsOf(channelId) }), wanted: (offered) => watching.wanted(offered), reachable: () => connection.value === "online", doubt: doubtConnection, sealing: sealingOf(channelId, encrypted) });
  call = mine;
  const devices = new Publisher(mine, () => callSettings.value);
  const layers = layering = new Layering(mine, (trackIds) => { if (String(trackIds) !== String(paused.peek())) paused.value = trackIds; });
  const stopWatching = watchQuality(mine, (reading) => {
    mine.read(reading);
    layers.hear(reading);
    automaticLevel.value = layers.level;
  });
  publisher = devices;
  mine.addEventListener("state", () => {
    if (mine.state === "over") return;
    callState.value = mine.state;
    if (mine.state !== "connected") return;
    screenStopped = false;
    layers.startOver();
    tellAll();
  });
  mine.addEventListener("offered", () => layers.ask());
  mine.addEventListener("tracks", () => {
    tracks.value = mine.tracks;
    const received = new Set(mine.tracks.map(({ trackId }) => trackId));
    unwatched.value = mine.offered.filter(({ trackId, source }) => source === "screen" && !received.has(trackId)).map(({ userId }) => userId);
    sounds.render(mine.tracks);
    layers.ask();
  });
  mine.addEventListener("trouble", () => { callTrouble.value = mine.trouble; });
  mine.addEventListener("speakers", () => { speakers.value = mine.speakers; });
  devices.addEventListener("change", () => {
    if (publisher !== devices) return; // A device may open or close after we have left.
    const heard = devices.mic !== null && !devices.muted;
    const { mic: wasHeard, camera, screen } = sending.value;
    sending.value = { mic: heard, camera: devices.camera, screen: devices.screen?.video ?? null };
    remember();
    if (heard !== wasHeard) tell();
    if (!camera !== !sending.value.camera || !screen !== !sending.value.screen) tellSent();
  });
  devices.addEventListener("trouble", ({ detail }) => notify(detail));
  remember({ mic, camera });
  if (mic) devices.toggleMic();
  if (camera) devices.toggleCamera();
  const ended = await mine.stay();
  stopWatching();
  layers.stop();
  leaveRoom(ended, devices);
}

/** @param {string | null} channelId */
const kbpsOf = (channelId) => channelsById.value.get(channelId ?? "")?.bitrate_kbps ?? 0;
/** @param {string} channelId */
const isEncrypted = (channelId) => channelsById.peek().get(channelId)?.encrypted ?? false;

/** Why we cannot be in a channel that is encrypted; "" where we can. @param {string} channelId */
const cannotSeal = (channelId) => (isEncrypted(channelId) ? whyNotSealed() : "");

/** Others let our device into the group of the call, so the server has to know it first. @param {string} channelId */
async function sealedGrant(channelId) {
  const running = await theRunning();
  await running.takePart();
  return ask("voice_join", { channel_id: channelId, sealed: true });
}

/** Plays others as loud as the person wants each. @param {typeof import("./being.js")} being */
function made({ Sound }) {
  const sounds = new Sound((blocked) => { soundBlocked.value = blocked; }, volumeOf);
  effect(() => sounds.silence(deafened.value));
  let [away, seen] = [false, ""];
  effect(() => {
    const { speaker } = callSettings.value;
    const others = there.value.audiooutput; // None where the browser does not tell.
    const known = others.some(({ id }) => id === speaker);
    const gone = speaker !== "" && others.length > 0 && !known;
    sounds.speakTo(gone ? "" : speaker);
    if (gone && !away) notify(t(seen === speaker ? "device-vanished" : "device-missing", { device: t("device-loudspeaker") }));
    away = gone;
    if (known) seen = speaker;
  });
  effect(() => {
    people.value;
    sounds.setVolumes();
  });
  return sounds;
}

/** No call any more, for this reason; "" where none needs to be told. @param {string} reason */
function over(reason) {
  entering = null;
  batch(() => {
    callState.value = "none";
    callChannel.value = null;
    callEncrypted.value = false;
    ending.value = reason;
    if (reason) notify(reason);
  });
}

/** @param {Ending} ended @param {Publisher} devices */
function leaveRoom({ kind, reason }, devices) {
  publisher = null; // What stops now is not told: another page of ours may be in the call.
  devices.stop();
  keep(KEPT, null, SESSION);
  if (kind !== "removed" && !moving) lastPlace = null;
  sound?.render([]);
  handUp = false;
  batch(() => {
    call = layering = null;
    tracks.value = [];
    paused.value = [];
    unwatched.value = [];
    speakers.value = [];
    sending.value = { mic: false, camera: null, screen: null };
    over({ replaced: t("call-replaced"), removed: t("call-removed") }[kind] ?? reason);
  });
  const next = moving;
  moving = null;
  if (next) enter(next);
}

/** @param {Partial<Wish>} [sent] */
function remember({ mic = sending.value.mic, camera = sending.value.camera !== null } = {}) {
  if (!call || call.state === "over") return;
  lastPlace = { channelId: /** @type {string} */ (callChannel.value), mic, camera, deafened: deafened.value, encrypted: callEncrypted.value };
  keep(KEPT, lastPlace, SESSION);
}

/** A chat server that was started again knows nothing of it; it may not know of our call yet either. */
function tellAll() {
  tell();
  tellSent();
  if (handUp) raiseHand(/** @type {string} */ (callChannel.value), true).catch(() => {});
}

/** Tell the others whether we can be heard, and hear; whoever connects tells it anyway. */
function tell() {
  if (callState.value === "connected") ask("voice_mute_self", { muted: !sending.value.mic, deafened: deafened.value }).catch(() => {});
}

/** Tell everybody who sees the channel what we show; nobody is there before the call is. */
function tellSent() {
  const { camera, screen } = sending.value;
  if (callState.value === "connected") ask("voice_send", { channel_id: /** @type {string} */ (callChannel.value), camera: camera !== null, screen: screen !== null }).catch(() => {});
}

/** A moderator sends us to another room; we may already have been put out of this one. @param {Pushes["voice_moved"]} moved */
function follow({ from_channel_id: from, channel_id: channelId }) {
  const sealed = isPrivateRoom(from) || (lastPlace?.channelId === from && lastPlace.encrypted);
  if (sealed && from !== channelId && !isEncrypted(channelId)) return; // Nobody moves us to where others could hear.
  const there = { ...(lastPlace ?? wishes.value), channelId };
  if (place.value?.channelId === from) open(channelId);
  if (call && callChannel.value === from) {
    moving = there;
    call.leave();
  } else if (!call && lastPlace?.channelId === from) enter(there);
}

listen({
  resume: () => call?.cameBack(),
  greet() {
    call?.cameBack();
    tellAll();
    const last = keptLike({ channelId: "", mic: false, camera: false, deafened: false, encrypted: false }, KEPT, SESSION);
    if (call || entering || !channelsById.value.has(last.channelId)) return;
    if (last.encrypted && !isEncrypted(last.channelId)) {
      keep(KEPT, null, SESSION);
      over(t("call-encrypted-no-more"));
    } else enter(last);
  },
  hear(event, data) {
    if (event === "voice_moved") follow(data);
    else if (event === "voice_joined" && data.member.id === member.value?.id && data.channel_id === callChannel.value) tellAll();
    else if (event === "voice_screen_stopped" && data.channel_id === callChannel.value) {
      screenStopped = true;
      publisher?.stopScreen();
      notify(t("screen-stopped"));
    } else if (event === "voice_updated" && handUp && data.hand === 0 && data.member_id === member.value?.id) {
      handUp = false;
      notify(t("hand-lowered"));
    }
  },
  forget() {
    moving = null;
    leaveCall();
    keep(KEPT, null, SESSION);
  },
});

effect(() => {
  watching.chooseOnlySound(onlySound.value);
  kbpsOf(callChannel.value); // Whoever looks after the channel may change it while we are there.
  call?.review();
});

// What the person chooses for a device holds at once.
/** @type {Record<"microphone" | "camera", (keyof CallSettings)[]>} */
const OF_DEVICES = {
  microphone: ["microphone", "echoCancellation", "autoGainControl", "noise", "input", "threshold", "releaseMs", "music"],
  camera: ["camera", "blur"],
};
let chosen = callSettings.peek();
effect(() => {
  const now = callSettings.value;
  const before = chosen;
  chosen = now;
  for (const [device, names] of /** @type {[keyof typeof OF_DEVICES, (keyof CallSettings)[]][]} */ (Object.entries(OF_DEVICES))) {
    if (names.some((name) => now[name] !== before[name])) publisher?.reopen(device);
  }
});

