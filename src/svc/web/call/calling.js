// Our call, as the rest of the page sees it: where it is, what is received and sent, and what may be done with it.
// Joins again after a reload, and follows when a moderator moves us.

import { batch, effect, signal } from "../vendor/signals.js";
import { channelsById } from "../state/channels.js";
import { raiseHand } from "../state/gestures.js";
import { notify, tried } from "../state/notices.js";
import { open, place } from "../state/place.js";
import { onlySound } from "../state/call_layout.js";
import { callSettings, people, wishesFor } from "../state/call_settings.js";
import { ask, listen, member } from "../state/server.js";
import { peopleIn } from "../state/voice.js";
import { keep, keptLike } from "../transport/kept.js";
import { t } from "../words/words.js";
import { Call } from "./call.js";
import { Layering } from "./layering.js";
import { Publisher } from "./publisher.js";
import { watchQuality } from "./quality.js";
import { Sound } from "./sound.js";
import { Watching } from "./watching.js";

const KEPT = "svc.call"; // In sessionStorage: where this tab was and what it sent, so that a reload comes back.
const SESSION = "sessionStorage";
const WISHES = "svc.joinWith"; // In localStorage: what we join with.

/** "none", "joining", "connected" or "reconnecting". */
export const callState = signal("none");
/** The id of its channel, or null. */
export const callChannel = signal(null);
/** What we receive: [{mid, trackId, userId, source, receiver}]. */
export const tracks = signal([]);
/** Whose screen we could watch and do not receive: ids. */
export const unwatched = signal([]);
/** Who speaks, ids, the loudest first; ourselves too. */
export const speakers = signal([]);
/** What we send: {mic: bool, camera: track or null, screen: track or null}; a muted microphone is not sent. */
export const sending = signal({ mic: false, camera: null, screen: null });
/** Do we hear nobody, by our own choice? */
export const deafened = signal(false);
/** Does the browser want a gesture before it plays sound? */
export const soundBlocked = signal(false);
/** Why the last call ended, in words; "" when we left ourselves. */
export const ending = signal("");
/** What we join with: {mic, camera}. */
export const wishes = signal(keptLike({ mic: true, camera: false }, WISHES));

/** The highest layer of other people's video that is asked for automatically: 0, 1, or 2 for all. */
export const automaticLayer = signal(2);

const volumeOf = (userId, source) => {
  const { volume, muted, screenVolume } = wishesFor(userId);
  return source === "screen_audio" ? screenVolume : muted ? 0 : volume;
};
export const sound = new Sound((blocked) => { soundBlocked.value = blocked; }, volumeOf);

const watching = new Watching();
/** Whose screen we want to see: ids, also of those whose picture is still on its way. */
export const watched = watching.screens;

let call = null;
let handUp = false; // It is raised again in a new session of the same call, though at the end.
let screenStopped = false; // By a moderator, until we leave the room.
let publisher = null;
let layering = null;
let lastPlace = null; // The room that we are or were last in, and what we sent there, until we leave it ourselves.
let moving = null; // Where to go when the call that is ending has ended.

/** The Call of the moment, for statistics and layers, or null. */
export const theCall = () => call;

export function chooseWishes(changes) {
  wishes.value = { ...wishes.value, ...changes };
  keep(WISHES, wishes.value);
}

/** Enter a voice channel; a call that we are in is left for it. */
export function joinCall(channelId, { mic, camera } = wishes.value) {
  const there = { channelId, mic, camera };
  if (call && callChannel.value === channelId) return;
  if (!call) {
    enter(there);
    return;
  }
  moving = there;
  call.leave();
}

export const leaveCall = () => call?.leave();
export const toggleMic = () => publisher?.toggleMic();
export const toggleCamera = () => publisher?.toggleCamera();
export function toggleScreen() {
  if (screenStopped && !sending.value.screen) notify(t("screen-stopped"));
  else publisher?.toggleScreen();
}
/** Watch somebody's screen, or not: then it is not sent to us either. */
export function watchScreen(userId, watch) {
  watching.choose(userId, watch);
  call?.review();
}
export const unblockSound = () => sound.play();
/** The key to talk is held, or not. */
export const pressToTalk = (pressed) => publisher?.mic?.press(pressed);
/** How loud our own microphone is, 0 to 1; 0 while it is not open. */
export const ownLevel = () => publisher?.mic?.level() ?? 0;

/** Is our hand raised in the call that we are in? */
export const ownHand = () => peopleIn(callChannel.value).some(({ id, hand }) => id === member.value?.id && hand > 0);

export function toggleHand() {
  if (!call) return;
  handUp = !ownHand();
  tried(raiseHand(callChannel.value, handUp));
}

/** Hear nobody; with that one's own microphone is muted too. */
export function toggleDeafened() {
  deafened.value = !deafened.value;
  sound.silence(deafened.value);
  if (deafened.value && sending.value.mic) publisher?.toggleMic();
  tell();
}

/** Be in a room until leaving it. */
async function enter({ channelId, mic, camera }) {
  const codec = new URLSearchParams(location.hash.slice(1)).get("codec");
  const mine = new Call({ requestGrant: () => ask("voice_join", { channel_id: channelId }), codec, music: () => callSettings.value.music, wanted: (offered) => watching.wanted(offered) });
  call = mine;
  const devices = new Publisher(mine, () => callSettings.value);
  const layers = new Layering(mine);
  const stopWatching = watchQuality(mine, (reading) => {
    layers.hear(reading);
    automaticLayer.value = layers.layer;
  });
  layering = layers;
  publisher = devices;
  batch(() => {
    callChannel.value = channelId;
    callState.value = "joining";
    ending.value = "";
    deafened.value = false;
  });
  mine.addEventListener("state", () => {
    if (mine.state === "over") return;
    callState.value = mine.state;
    if (mine.state !== "connected") return;
    screenStopped = false;
    layers.startOver();
    tell();
    tellSent();
    if (handUp) tried(raiseHand(channelId, true));
  });
  mine.addEventListener("tracks", () => {
    tracks.value = mine.tracks;
    const received = new Set(mine.tracks.map(({ trackId }) => trackId));
    unwatched.value = mine.offered.filter(({ trackId, source }) => source === "screen" && !received.has(trackId)).map(({ userId }) => userId);
    sound.render(mine.tracks);
    layers.ask();
  });
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
  leaveRoom(ended, devices);
}

function leaveRoom({ kind, reason }, devices) {
  devices.stop();
  keep(KEPT, null, SESSION);
  if (kind !== "removed" && !moving) lastPlace = null;
  sound.render([]);
  handUp = false;
  batch(() => {
    call = publisher = layering = null;
    tracks.value = [];
    unwatched.value = [];
    speakers.value = [];
    sending.value = { mic: false, camera: null, screen: null };
    callState.value = "none";
    callChannel.value = null;
    ending.value = { replaced: t("call-replaced"), removed: t("call-removed") }[kind] ?? reason;
    if (ending.value) notify(ending.value);
  });
  const next = moving;
  moving = null;
  if (next) enter(next);
}

function remember({ mic = sending.value.mic, camera = sending.value.camera !== null } = {}) {
  if (!call || call.state === "over") return;
  lastPlace = { channelId: callChannel.value, mic, camera };
  keep(KEPT, lastPlace, SESSION);
}

/** Tell the others whether we can be heard, and hear. */
function tell() {
  ask("voice_mute_self", { muted: !sending.value.mic, deafened: deafened.value }).catch(() => {});
}

/** Tell everybody who sees the channel what we show; nobody is there before the call is. */
function tellSent() {
  const { camera, screen } = sending.value;
  if (callState.value === "connected") ask("voice_send", { channel_id: callChannel.value, camera: camera !== null, screen: screen !== null }).catch(() => {});
}

/** A moderator sends us to another room; we may already have been put out of this one. */
function follow({ from_channel_id: from, channel_id: channelId }) {
  const there = { ...(lastPlace ?? wishes.value), channelId };
  if (place.value?.channelId === from) open(channelId);
  if (call && callChannel.value === from) {
    moving = there;
    call.leave();
  } else if (!call && lastPlace?.channelId === from) enter(there);
}

/**
 * Everybody in our call, ourselves last: {id, nickname, own, camera, screen, unwatched, ...marks}; `camera` and `screen` are
 * tracks or null, `unwatched` says that there is a screen which we do not receive.
 */
export function peopleHere() {
  const own = member.value;
  const here = callChannel.value;
  if (!here || !own) return [];
  const video = (id, source) => tracks.value.find((track) => track.userId === id && track.source === source)?.receiver.track ?? null;
  const others = peopleIn(here).filter(({ id }) => id !== own.id)
    .map((each) => ({ ...each, own: false, camera: video(each.id, "camera"), screen: video(each.id, "screen"), unwatched: unwatched.value.includes(each.id) }));
  const { mic, camera, screen } = sending.value;
  const marks = peopleIn(here).find(({ id }) => id === own.id) ?? {};
  return [...others, { ...marks, id: own.id, nickname: own.nickname, own: true, self_muted: !mic, self_deafened: deafened.value, camera, screen }];
}

listen({
  greet() {
    const last = keptLike({ channelId: "", mic: false, camera: false }, KEPT, SESSION);
    if (!call && channelsById.value.has(last.channelId)) enter(last);
  },
  hear(event, data) {
    if (event === "voice_moved") follow(data);
    else if (event === "voice_screen_stopped" && data.channel_id === callChannel.value) {
      screenStopped = true;
      publisher?.stopScreen();
      notify(t("screen-stopped"));
    }
  },
  forget() {
    moving = null;
    call?.leave();
    keep(KEPT, null, SESSION);
  },
});

effect(() => sound.silence(deafened.value));
effect(() => {
  people.value;
  sound.setVolumes();
  layering?.ask();
});
effect(() => {
  watching.chooseOnlySound(onlySound.value);
  call?.review();
});
effect(() => { sound.speakTo(callSettings.value.speaker); });

// What the person chooses for a device holds at once.
const OF_DEVICES = {
  microphone: ["microphone", "echoCancellation", "autoGainControl", "noise", "input", "threshold", "releaseMs", "music"],
  camera: ["camera", "blur"],
};
let chosen = callSettings.peek();
effect(() => {
  const now = callSettings.value;
  const before = chosen;
  chosen = now;
  for (const [device, names] of Object.entries(OF_DEVICES)) {
    if (names.some((name) => now[name] !== before[name])) publisher?.reopen(device);
  }
  layering?.ask();
});

