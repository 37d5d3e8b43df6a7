// The page: wires the chat server's live socket, the call, the text channels and the views together.
// Holds the only state that outlives a view: who we are, the channels, who is in the voice ones.

import { Account } from "./account.js";
import { Call } from "./call.js";
import { hearOfChannels } from "./channels.js";
import { available } from "./device_key.js";
import { Live } from "./live.js";
import { Lobby } from "./lobby.js";
import { Publisher } from "./publisher.js";
import { Room } from "./room.js";
import { Sound } from "./sound.js";
import { Stage } from "./stage.js";
import { ChannelList } from "./text/channel_list.js";
import { TextChannels } from "./text/text_channels.js";
import { hearOfVoice } from "./voice.js";

const PLACE = "svc.place"; // In sessionStorage: where this tab was, so that a reload comes back.
const READING = "svc.reading"; // In sessionStorage: the text channel that is open, for the same reason.
const ENDINGS = { replaced: "You joined from another tab or device.", removed: "You were removed from the room." };

const CROWDED = "Too many of your pages are open, and this was the oldest. Load it again to go on here.";
const INSECURE = "Browsers let people sign in only at https:// addresses, or on this very computer at http://127.0.0.1. Ask whoever runs this server for its https:// address.";
const FIELDS = { invalid_nickname: "name", invite_required: "invite", invite_invalid: "invite" };

const byId = (id) => document.getElementById(id);
const hash = new URLSearchParams(location.hash.slice(1));

const state = { member: null, channels: [], voice: {}, channelId: null };
let account = null;
let live = null;
let call = null;
let publisher = null;
let lastPlace = null; // The room that we are or were last in, and what we sent there, until we leave it ourselves.
let moving = null; // Where to go when the call that is ending has ended.

const stage = new Stage(byId("stage"), byId("people"), byId("screens"));
const sound = new Sound(byId("speakers"), (blocked) => room.showBlocked(blocked));
const lobby = new Lobby({ invite: hash.get("invite") ?? "", onJoin: join, onRead: joinToRead, onForget: forget });
const list = new ChannelList({ text: read, voice: turnToVoice });
const text = new TextChannels({ ask: (event, data) => live.request(event, data), token: () => account.accessToken() });
const room = new Room({
  mic: () => publisher.toggleMic(),
  camera: () => publisher.toggleCamera(),
  screen: () => publisher.toggleScreen(),
  leave: () => call.leave(),
  unblock: () => sound.play(),
});

start();

function start() {
  // For the curious and for the tests; nothing secret.
  Object.defineProperty(window, "svc", { value: Object.freeze({ get call() { return call; } }) });
  text.addEventListener("change", renderChannels);
  render();
  lobby.show(true);
  if (!available()) return lobby.block(INSECURE);
  account = new Account();
  account.addEventListener("renewed", ({ detail }) => live?.reauthenticate(detail));
  if (account.member) {
    state.member = account.member;
    render();
    connect();
  }
  return undefined;
}

/** Open the live socket; resolves when the server has said whether it knows us. */
function connect() {
  live = new Live(webSocketUrl("/live"), (refused) => account.accessToken(refused));
  live.addEventListener("push", ({ detail }) => receive(detail));
  live.addEventListener("resumed", ({ detail }) => text.resume(detail));
  live.addEventListener("offline", () => text.lose());
  live.addEventListener("crowded", () => text.stop(CROWDED));
  return new Promise((resolve) => {
    live.addEventListener("authenticated", ({ detail }) => {
      greet(detail);
      resolve();
    });
    live.addEventListener("rejected", ({ detail }) => {
      leaveServer();
      account.signOut();
      lobby.fail(`This server does not let you in any more. ${detail.message}`);
      resolve();
    });
  });
}

function greet(greeting) {
  const { member, channels, voice } = greeting;
  Object.assign(state, { member, voice, channels });
  text.greet(greeting);
  followChannels();
  render();
  const reading = ofType("text").find(({ id }) => id === sessionStorage.getItem(READING));
  if (reading && !text.channel) read(reading.id);
  const place = JSON.parse(sessionStorage.getItem(PLACE));
  if (place && !call) enter(place);
}

function receive({ event, data }) {
  if (event === "voice_moved") follow(data);
  text.receive(event, data);
  const channels = hearOfChannels(state.channels, event, data);
  const changed = channels !== state.channels;
  state.channels = channels;
  if (changed) followChannels();
  if (hearOfVoice(state.voice, event, data) || changed) render();
}

/** The channel that is open may be called otherwise now, or be gone. */
function followChannels() {
  if (!text.channel) return;
  const channel = state.channels.find(({ id }) => id === text.channel.id);
  if (channel) text.rename(channel);
  else turnToVoice();
}

/** Open a text channel; a call goes on beside it. */
function read(channelId) {
  text.open(state.channels.find(({ id }) => id === channelId));
  sessionStorage.setItem(READING, channelId);
  render();
}

/** Show the call, or the way into one. */
function turnToVoice(channelId = null) {
  text.close();
  sessionStorage.removeItem(READING);
  render();
  if (call) room.show(true);
  else lobby.show(true, channelId);
}

/** A moderator sends us to another room; we may already have been put out of this one. */
function follow({ from_channel_id: from, channel_id: channelId }) {
  const place = { ...(lastPlace ?? {}), channelId };
  if (call && state.channelId === from) {
    moving = place;
    call.leave();
  } else if (!call && lastPlace?.channelId === from) enter(place);
}

/** The form was sent: become a member if we are none yet, then enter the room. */
async function join({ name, invite, channelId, mic, camera }) {
  lobby.setBusy(true);
  try {
    if (!state.member && !(await register(name, invite))) return;
    enter({ channelId: channelId ?? ofType("voice")[0].id, mic, camera });
  } finally {
    lobby.setBusy(false);
  }
}

/** The same without a call. */
async function joinToRead({ name, invite }) {
  lobby.setBusy(true);
  try {
    if (await register(name, invite)) read(ofType("text")[0].id);
  } finally {
    lobby.setBusy(false);
  }
}

async function register(nickname, invite) {
  try {
    await account.join(nickname, invite);
  } catch (error) {
    const field = FIELDS[error.code];
    if (field === "invite") lobby.askInvite();
    lobby.fail(error.message, field);
    return false;
  }
  // The invite has done its work; the address can be shown around again.
  hash.delete("invite");
  history.replaceState(null, "", hash.size ? `#${hash}` : location.pathname);
  await connect();
  return state.member !== null;
}

/** Be somebody else from now on. */
async function forget() {
  live?.close();
  // The form that comes next must not find the old key.
  await account.forget();
  leaveServer();
}

function leaveServer() {
  for (const kept of [PLACE, READING]) sessionStorage.removeItem(kept);
  text.forget();
  call?.leave();
  live?.close();
  Object.assign(state, { member: null, channels: [], voice: {} });
  render();
  lobby.show(!call);
}

/** Be in a room until leaving it. */
async function enter({ channelId, mic, camera }) {
  state.channelId = channelId;
  call = new Call({ requestGrant: () => live.request("voice_join", { channel_id: channelId }), codec: hash.get("codec") });
  const mine = (publisher = new Publisher(call));
  for (const change of ["state", "tracks"]) call.addEventListener(change, render);
  call.addEventListener("speakers", showSpeaking);
  publisher.addEventListener("change", () => {
    // A device may open or close after we have left.
    if (publisher !== mine) return;
    remember();
    render();
  });
  publisher.addEventListener("trouble", ({ detail }) => room.notify(detail));
  lobby.show(false);
  room.show(true);
  remember({ mic, camera });
  render();
  if (mic) publisher.toggleMic();
  if (camera) publisher.toggleCamera();
  leaveRoom(await call.stay());
}

function remember({ mic = publisher.mic !== null && !publisher.muted, camera = publisher.camera !== null } = {}) {
  if (call.state === "over") return;
  lastPlace = { channelId: state.channelId, mic, camera };
  sessionStorage.setItem(PLACE, JSON.stringify(lastPlace));
}

function leaveRoom({ kind, reason }) {
  publisher.stop();
  sessionStorage.removeItem(PLACE);
  call = publisher = null;
  if (kind !== "removed" && !moving) lastPlace = null;
  room.show(false);
  lobby.show(true);
  lobby.fail(ENDINGS[kind] ?? reason);
  render();
  const next = moving;
  moving = null;
  if (next) enter(next);
}

function ofType(wanted) {
  return state.channels.filter(({ type }) => type === wanted);
}

function members(channelId) {
  return state.voice[channelId] ?? [];
}

function renderChannels() {
  const texts = ofType("text").map((channel) => ({ ...channel, ...text.counts(channel.id), current: channel.id === text.channel?.id }));
  const current = (id) => call !== null && id === state.channelId && !text.channel;
  list.render({ texts, voices: ofType("voice").map(({ id, name }) => ({ id, name, count: members(id).length, current: current(id) })) });
}

function render() {
  byId("page").classList.toggle("reading", text.channel !== null);
  renderChannels();
  lobby.render({ member: state.member, rooms: ofType("voice").map(({ id, name }) => ({ id, name, members: members(id) })) });
  if (!call || !state.member) {
    document.title = text.channel ? `${text.channel.name} · svc` : "svc";
    stage.render([], []);
    sound.render([]);
    return;
  }
  const others = members(state.channelId).filter(({ id }) => id !== state.member.id);
  const name = state.channels.find(({ id }) => id === state.channelId)?.name ?? "";
  document.title = `${name} · svc`;
  room.render({ name, count: others.length + 1, state: call.state });
  room.renderControls(publisher);
  sound.render(call.tracks);
  renderStage(others);
}

function renderStage(others) {
  const video = (id, source) => call.tracks.find((track) => track.userId === id && track.source === source)?.receiver.track ?? null;
  const ownCamera = publisher.camera;
  const people = [
    ...others.map((member) => ({ ...member, own: false, video: video(member.id, "camera") })),
    { ...state.member, own: true, video: ownCamera },
  ];
  const screens = people.map((person) => ({ ...person, video: person.own ? publisher.screen?.video ?? null : video(person.id, "screen") }));
  stage.render(people, screens.filter((screen) => screen.video));
  showSpeaking();
}

function showSpeaking() {
  stage.showSpeaking(new Set(call.speakers));
}

function webSocketUrl(path) {
  const url = new URL(path, location.href);
  url.protocol = url.protocol.replace("http", "ws");
  url.hash = "";
  return url;
}
