// Manages our current call: its channel, the received and sent tracks, and our actions in it. Rejoins after a
// reload, and joins the new room when a moderator moves us.

/** @import { Pushes } from "../types/api.js" */
/** @import { Signal } from "../vendor/signals.js" */
/** @import { Call } from "./call.js" */
/** @import { Publisher } from "./publisher.js" */
/** @import { Ending, Track } from "./session.js" */
/** @import { Sound } from "./audio_output.js" */
/** @typedef {{mic: boolean, camera: boolean}} JoinMedia */
/** @typedef {JoinMedia & {channelId: string, deafened?: boolean, encrypted?: boolean}} JoinRequest */
/** @import { CallSettings } from "../state/call_settings.js" */

import { batch, computed, effect, signal } from "../vendor/signals.js";
import { channelsById, mayInCall } from "../state/channels.js";
import { raiseHand } from "../state/hands_and_reactions.js";
import { notify, tryOrNotify } from "../state/notices.js";
import { open, currentLocation } from "../state/navigation.js";
import { isPrivateRoom, whyNoCall, whyNotSealed } from "../state/private_calls.js";
import { privateClient } from "../state/private_client.js";
import { onlySound } from "../state/call_layout.js";
import { callSettings, setCallSettings, people, volumeOf } from "../state/call_settings.js";
import { ask, connection, probeConnection, listen, member } from "../state/server.js";
import { participantsIn } from "../state/voice.js";
import { storeValue, storedValue } from "../transport/browser_storage.js";
import { t } from "../words/words.js";
import { devices as mediaDevices } from "./devices.js";
import { Watching } from "./video_selection.js";

// In sessionStorage: this tab's channel and the media it sends, for rejoining after a reload.
const STORED_CALL = "svc.call";
const SESSION = "sessionStorage";
const JOIN_DEFAULTS = "svc.joinWith"; // In localStorage: whether to join with the microphone and camera on.

/** The call's state: "none", "joining", "connected" or "reconnecting". */
export const callState = signal("none");
/** The id of the call's channel, or null. @type {Signal<string | null>} */
export const callChannel = signal(null);
/** The received tracks. @type {Signal<Track[]>} */
export const tracks = signal([]);
/** Ids of members whose screen is available but not received. @type {Signal<string[]>} */
export const unwatched = signal([]);
/** Ids of the speakers, loudest first, including our own. @type {Signal<string[]>} */
export const speakers = signal([]);
/**
 * The media that we send. A muted microphone counts as not sent.
 * @type {Signal<{mic: boolean, camera: MediaStreamTrack | null, screen: MediaStreamTrack | null}>}
 */
export const sending = signal({ mic: false, camera: null, screen: null });
/** Whether we have deafened ourselves. */
export const deafened = signal(false);
/** Whether the browser requires a gesture before it plays audio. */
export const soundBlocked = signal(false);
/** A sentence that explains the call's current problem, or "" if there is none. */
export const callTrouble = signal("");
/** The call state to show. A connected call with a problem is shown as reconnecting. */
export const shownCallState = computed(() =>
  callTrouble.value && callState.value === "connected" ? "reconnecting" : callState.value,
);
/**
 * Whether the call's channel was encrypted when we joined. Later reports by the server do not change this
 * value.
 */
export const callEncrypted = signal(false);
/** A sentence that explains why the last call ended, or "" if we left by choice. */
export const ending = signal("");
/** Whether to join with the microphone and camera on: {mic, camera}. */
export const joinDefaults = signal(storedValue({ mic: true, camera: false }, JOIN_DEFAULTS));

/** @type {typeof import("./index.js") | null} */
let callModules = null; // The call modules, imported for the first call.
/** @type {Sound | null} */
let sound = null; // The player, created with the first call.

const watching = new Watching();
/** Ids of members whose screen we have chosen to watch, even if the track has not arrived yet. */
export const watched = watching.screens;

/** @type {Call | null} */
let call = null;
let handUp = false; // Whether our hand is raised. Each new session raises it again, at the end of the queue.
let screenStopped = false; // Whether a moderator has stopped our screen sharing in this room.
/** @type {Publisher | null} */
let publisher = null;
/** @type {JoinRequest | null} */
let lastJoin = null; // The room we are or were in, and the media sent there; null after we leave by choice.
/** @type {JoinRequest | null} */
let entering = null; // The room to enter once the call modules are loaded.
/** @type {JoinRequest | null} */
let moving = null; // The room to enter once the current call has ended.

/** Return the current Call, for statistics and layers, or null. */
export const currentCall = () => call;

/** @param {Partial<JoinMedia>} changes */
export function setJoinDefaults(changes) {
  joinDefaults.value = { ...joinDefaults.value, ...changes };
  storeValue(JOIN_DEFAULTS, joinDefaults.value);
}

/** Return whether we may speak in the current call. The audience of a stage may not. */
const maySpeak = () => mayInCall("speak", callChannel.value ?? "");

/**
 * Enter a voice channel with `media`, {mic, camera}. By default, keep the microphone and camera as they are
 * in the current call, unless we are in its audience.
 * @param {string} channelId
 * @param {JoinMedia} [media]
 */
export function joinCall(
  channelId,
  media = entering ?? (call && maySpeak() ? lastJoin : null) ?? joinDefaults.value,
) {
  const request = { ...media, channelId };
  if ((call || entering) && callChannel.value === channelId) return;
  if (!call || obstacle(channelId)) {
    if (call) notify(obstacle(channelId));
    else enter(request);
    return;
  }
  moving = request;
  call.leave();
}

export function leaveCall() {
  if (entering) {
    storeValue(STORED_CALL, null, SESSION);
    callEnded("");
  }
  call?.leave();
}
/** Mute or unmute. The audience of a stage has no microphone. */
export const toggleMic = () => maySpeak() && publisher?.toggleMic();
export const toggleCamera = () => publisher?.toggleCamera();
export function toggleScreen() {
  if (screenStopped && !sending.value.screen) notify(t("screen-stopped"));
  else publisher?.toggleScreen();
}
/**
 * Start or stop watching a member's screen. The SFU does not send us a screen that we do not watch.
 * @param {string} userId
 * @param {boolean} watch
 */
export function watchScreen(userId, watch) {
  watching.choose(userId, watch);
  call?.review();
}
export const unblockSound = () => sound?.play();
/** React to the push-to-talk key being pressed or released. @param {boolean} pressed */
export const pressToTalk = (pressed) => publisher?.mic?.press(pressed);
/** Return the level of our microphone, 0 to 1; 0 while it is off. */
export const ownLevel = () => publisher?.mic?.level() ?? 0;

/** Return whether our hand is raised in the current call. */
export const ownHand = () =>
  participantsIn(callChannel.value ?? "").some(({ id, hand }) => id === member.value?.id && hand > 0);

export function toggleHand() {
  if (!call) return;
  handUp = !ownHand();
  remember();
  tryOrNotify(raiseHand(/** @type {string} */ (callChannel.value), handUp));
}

/** Deafen or undeafen ourselves. Deafening also mutes our microphone. */
export function toggleDeafened() {
  deafened.value = !deafened.value;
  if (deafened.value && sending.value.mic) publisher?.toggleMic();
  remember();
  announceAudio();
}

/** Enter a room and stay in it until we leave. @param {JoinRequest} request */
async function enter(request) {
  const { channelId, mic, camera } = request;
  const encrypted = isEncrypted(channelId);
  const why = obstacle(channelId);
  if (why) {
    callEnded(why);
    return;
  }
  entering = request;
  // Request the grant before rendering, because rendering takes longer than the response.
  const requestGrant = () =>
    encrypted || isPrivateRoom(channelId)
      ? sealedGrant(channelId)
      : ask("voice_join", { channel_id: channelId });
  /** @type {ReturnType<typeof requestGrant> | null} */
  let requested = requestGrant();
  requested.catch(() => {}); // `Call` handles the error, unless we have left in the meantime.
  batch(() => {
    callChannel.value = channelId;
    callState.value = "joining";
    callEncrypted.value = encrypted;
    ending.value = "";
    deafened.value = request.deafened ?? false;
  });
  // If the modules are loaded, await nothing else, so that the microphone also opens before rendering.
  callModules ??= await import("./index.js").catch(() => null);
  if (entering !== request) return;
  if (!callModules) callEnded(t("error-unreachable"));
  if (!callModules) return;
  entering = null;
  const { Call, LayerRequests, Publisher, encryptionFor, watchQuality } = callModules;
  const sounds = (sound ??= createSound(callModules));
  const grantOnce = () => {
    const grant = requested ?? requestGrant();
    requested = null; // A grant is valid for one session.
    return grant;
  };
  const tried = new URLSearchParams(location.hash.slice(1));
  const mine = new Call({
    requestGrant: grantOnce,
    codec: tried.get("codec"),
    simulcast: tried.get("simulcast") !== "off",
    sound: () => ({ music: callSettings.value.music, kbps: kbpsOf(channelId) }),
    wanted: (offered) => watching.wanted(offered),
    reachable: () => connection.value === "online",
    doubt: probeConnection,
    sealing: encryptionFor(channelId, encrypted),
  });
  call = mine;
  const devices = new Publisher(mine, () => callSettings.value);
  const layers = new LayerRequests(mine);
  const stopWatching = watchQuality(mine, (reading) => mine.read(reading));
  publisher = devices;
  mine.addEventListener("state", () => {
    if (mine.state === "over") return;
    callState.value = mine.state;
    if (mine.state !== "connected") return;
    screenStopped = false;
    layers.startOver();
    announceState();
  });
  mine.addEventListener("offered", () => layers.ask());
  mine.addEventListener("tracks", () => {
    tracks.value = mine.tracks;
    const received = new Set(mine.tracks.map(({ trackId }) => trackId));
    unwatched.value = mine.offered
      .filter(({ trackId, source }) => source === "screen" && !received.has(trackId))
      .map(({ userId }) => userId);
    sounds.render(mine.tracks);
    layers.ask();
  });
  mine.addEventListener("trouble", () => {
    callTrouble.value = mine.trouble;
  });
  mine.addEventListener("speakers", () => {
    speakers.value = mine.speakers;
  });
  devices.addEventListener("change", () => {
    if (publisher !== devices) return; // Devices may still open or close after we have left.
    const heard = devices.mic !== null && !devices.muted;
    const { mic: wasHeard, camera, screen } = sending.value;
    sending.value = { mic: heard, camera: devices.camera, screen: devices.screen?.video ?? null };
    remember();
    if (heard !== wasHeard) announceAudio();
    if (!camera !== !sending.value.camera || !screen !== !sending.value.screen) announceVideo();
  });
  devices.addEventListener("trouble", ({ detail }) => notify(detail));
  devices.addEventListener("previous", ({ detail }) => setCallSettings(detail));
  remember({ mic, camera });
  if (mic && mayInCall("speak", channelId)) devices.toggleMic();
  if (camera) devices.toggleCamera();
  const ended = await mine.joinUntilLeft();
  stopWatching();
  layers.stop();
  leaveRoom(ended, devices);
}

/** @param {string | null} channelId */
const kbpsOf = (channelId) => channelsById.value.get(channelId ?? "")?.bitrate_kbps ?? 0;
/** @param {string} channelId */
const isEncrypted = (channelId) => channelsById.peek().get(channelId)?.encrypted ?? false;

/** Return the reason why we cannot join the channel, or "" if we can. @param {string} channelId */
const obstacle = (channelId) => whyNoCall() || (isEncrypted(channelId) ? whyNotSealed() : "");

/**
 * Register our device, which joins the call's MLS group, and then request a grant for an encrypted call.
 * @param {string} channelId
 */
async function sealedGrant(channelId) {
  const client = await privateClient();
  await client.register();
  return ask("voice_join", { channel_id: channelId, sealed: true });
}

/**
 * Create the player, with the volume chosen for each member.
 * @param {typeof import("./index.js")} being
 */
function createSound({ Sound }) {
  const sounds = new Sound((blocked) => {
    soundBlocked.value = blocked;
  }, volumeOf);
  effect(() => sounds.silence(deafened.value));
  let [away, seen] = [false, ""];
  effect(() => {
    const { speaker } = callSettings.value;
    const others = mediaDevices.value.audiooutput; // Empty if the browser does not list output devices.
    const known = others.some(({ id }) => id === speaker);
    const gone = speaker !== "" && others.length > 0 && !known;
    sounds.speakTo(gone ? "" : speaker);
    if (gone && !away)
      notify(t(seen === speaker ? "device-vanished" : "device-missing", { device: t("device-loudspeaker") }));
    away = gone;
    if (known) seen = speaker;
  });
  effect(() => {
    people.value;
    sounds.setVolumes();
  });
  return sounds;
}

/** Mark the call as ended. Show the reason unless it is "". @param {string} reason */
function callEnded(reason) {
  entering = null;
  handUp = false;
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
  // Do not announce that our devices have stopped, because another tab or device of ours may be in the call.
  publisher = null;
  devices.stop();
  storeValue(STORED_CALL, null, SESSION);
  if (kind !== "removed" && !moving) lastJoin = null;
  sound?.render([]);
  batch(() => {
    call = null;
    tracks.value = [];
    unwatched.value = [];
    speakers.value = [];
    sending.value = { mic: false, camera: null, screen: null };
    callEnded({ replaced: t("call-replaced"), removed: t("call-removed") }[kind] ?? reason);
  });
  const next = moving;
  moving = null;
  if (next) enter(next);
}

/** @param {Partial<JoinMedia>} [sent] */
function remember({ mic = sending.value.mic, camera = sending.value.camera !== null } = {}) {
  if (!call || call.state === "over") return;
  lastJoin = {
    channelId: /** @type {string} */ (callChannel.value),
    mic,
    camera,
    deafened: deafened.value,
    encrypted: callEncrypted.value,
  };
  storeValue(STORED_CALL, { ...lastJoin, hand: handUp }, SESSION);
}

/**
 * Announce our entire state, because a restarted chat server does not have it.
 */
function announceState() {
  // Raise the hand first, because the responses to the other requests report whether it is raised.
  if (handUp) raiseHand(/** @type {string} */ (callChannel.value), true).catch(() => {});
  announceAudio();
  announceVideo();
}

/**
 * Announce whether we are muted and whether we are deafened. Ignore failures, because we announce this again
 * after every reconnect.
 */
function announceAudio() {
  if (callState.value === "connected")
    ask("voice_mute_self", { muted: !sending.value.mic, deafened: deafened.value }).catch(() => {});
}

/**
 * Announce to everybody who can see the channel whether our camera and screen are on. Do nothing before the
 * call is connected.
 */
function announceVideo() {
  const { camera, screen } = sending.value;
  if (callState.value === "connected")
    ask("voice_send", {
      channel_id: /** @type {string} */ (callChannel.value),
      camera: camera !== null,
      screen: screen !== null,
    }).catch(() => {});
}

/**
 * Enter the room that a moderator has moved us to. We may already have been removed from the old room.
 * @param {Pushes["voice_moved"]} moved
 */
function moveTo({ from_channel_id: from, channel_id: channelId }) {
  const sealed = isPrivateRoom(from) || (lastJoin?.channelId === from && lastJoin.encrypted);
  // Never move from an encrypted call to one that the server can listen to.
  if (sealed && from !== channelId && !isEncrypted(channelId)) return;
  const request = { ...(lastJoin ?? joinDefaults.value), channelId };
  if (currentLocation.value?.channelId === from) open(channelId);
  if (call && callChannel.value === from) {
    moving = request;
    call.leave();
  } else if (!call && lastJoin?.channelId === from) enter(request);
}

listen({
  onResumption: () => call?.connectionRestored(),
  onGreeting() {
    call?.connectionRestored();
    announceState();
    const last = storedValue(
      { channelId: "", mic: false, camera: false, deafened: false, encrypted: false, hand: false },
      STORED_CALL,
      SESSION,
    );
    if (call || entering || !channelsById.value.has(last.channelId)) return;
    if (last.encrypted && !isEncrypted(last.channelId)) {
      storeValue(STORED_CALL, null, SESSION);
      callEnded(t("call-encrypted-off"));
    } else {
      handUp = last.hand;
      enter(last);
    }
  },
  onPush(event, data) {
    if (event === "voice_moved") moveTo(data);
    else if (
      event === "voice_joined" &&
      data.member.id === member.value?.id &&
      data.channel_id === callChannel.value
    )
      announceState();
    else if (event === "voice_screen_stopped" && data.channel_id === callChannel.value) {
      screenStopped = true;
      publisher?.stopScreen();
      notify(t("screen-stopped"));
    } else if (
      event === "voice_updated" &&
      data.channel_id === callChannel.value &&
      data.member_id === member.value?.id
    ) {
      const { hand, may_speak: speaks } = data;
      // Mute in the audience, so that a later invitation to speak does not open the microphone.
      if (speaks === false && sending.value.mic) publisher?.toggleMic();
      if (speaks) notify(t("may-speak"), "done");
      if (speaks && handUp) toggleHand();
      if (handUp && hand === 0) {
        handUp = false;
        remember();
        notify(t("hand-lowered"));
      }
    }
  },
  onSignOut() {
    moving = null;
    leaveCall();
    storeValue(STORED_CALL, null, SESSION);
  },
});

effect(() => {
  watching.chooseOnlySound(onlySound.value);
  kbpsOf(callChannel.value); // A manager may change the channel's bit rate during the call.
  call?.review();
});

// Changed device settings take effect immediately.
/** @type {Record<"microphone" | "camera", (keyof CallSettings)[]>} */
const OF_DEVICES = {
  microphone: [
    "microphone",
    "echoCancellation",
    "autoGainControl",
    "noise",
    "input",
    "threshold",
    "releaseMs",
    "music",
  ],
  camera: ["camera", "blur"],
};
let chosen = callSettings.peek();
effect(() => {
  const now = callSettings.value;
  const before = chosen;
  chosen = now;
  for (const [device, names] of /** @type {[keyof typeof OF_DEVICES, (keyof CallSettings)[]][]} */ (
    Object.entries(OF_DEVICES)
  )) {
    if (names.some((name) => now[name] !== before[name])) publisher?.reopen(device);
  }
  if (now.screen !== before.screen || now.screenSize !== before.screenSize) publisher?.reshape();
});
