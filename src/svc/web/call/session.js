// Implements one session with the SFU: an RTCPeerConnection and its signalling. Answers the SFU's offers in
// order, sends our tracks in the media sections reserved for them, and maps the other media sections to
// members. call.js starts each session.
//
// The SFU is always the offerer. Its first four media sections, mids 0 to 3, are for our tracks. Every later
// media section carries another member's track. The `tracks` map that accompanies the SDP identifies it.

/** @import { Reply } from "../types/wire.js" */
/** @import { CallEncryption } from "./encryption.js" */
/** @import { Trouble } from "./connection_diagnosis.js" */

import { allDecodeVp9, inStereo, withCodecFirst, preferSoundQuality } from "./sdp.js";
import { RelayWatch, diagnosisOf } from "./connection_diagnosis.js";
import { Signalling } from "./signalling.js";
import { VideoEncoders } from "./video_encoders.js";

/**
 * @typedef {keyof typeof SOURCES} Source
 * @typedef {{mid: string, trackId: string, userId: string, source: Source}} Offered
 * @typedef {Offered & {receiver: RTCRtpReceiver}} Track
 * @typedef {{trackId: string, userId: string, source: Source, reason: string}} Withheld
 * @typedef {{max_temporal_layer: number, max_spatial_layer: number, width: number, paused: boolean, priority:
 *   number, adaptive: boolean}} LayerRequest Our request for a track, as described in docs/signalling.md.
 * @typedef {{spatial: number, temporal: number, paused: boolean, reason: "wish" | "line" | "hidden" |
 *   "source"}} Layers The layers that the SFU is sending for a track, and the reason.
 * @typedef {{kbps: number, reason: string}} Estimate The estimated capacity of our downlink, and what limits
 *   it.
 * @typedef {{kind: string, reason: string}} Ending
 * @typedef {{music: boolean, kbps: number}} Sound Whether our audio is music, and the channel's bit rate, or
 *   0 for the default.
 * @typedef {RTCRtpTransceiver & {mid: string}} Section A media section with a mid from an offer.
 * @typedef {{[mid: string]: {track_id: string, user_id: string, source: Source}}} NamedTracks
 */
export const SOURCES = { mic: "0", camera: "1", screen: "2", screen_audio: "3" };

// Firefox 153 encodes all simulcast encodings of VP9 at the size of the smallest one, and downloads its H264
// encoder only after installation. VP8 works in every Firefox. There is no feature detection for this, so
// check the browser's name.
const IS_FIREFOX = navigator.userAgent.includes("Firefox/");
// At our bit rates, Chromium sends twice as many frames from a noisy camera in VP9 as in H264 or VP8. Phones
// and Safari keep the offer's first codec, H264, because they have hardware encoders for it.
const { userAgentData } = /** @type {{userAgentData?: {mobile: boolean}}} */ (navigator);
const IS_DESKTOP_CHROMIUM = userAgentData?.mobile === false;
/** @type {Sound} */
const VOICE = { music: false, kbps: 0 };

// A call usually connects within a second, or within two over TCP or a relay.
const TYPICAL_WAIT_MS = 2000;
const CONNECT_DEADLINE_MS = 15_000; // The SFU waits equally long for our answer.

/**
 * A session with the SFU. Dispatches "silent" when the SFU no longer receives anything from us, and
 * "connected" at first and after each "silent". Dispatches "offered", "tracks", "speakers", "layers" or
 * "bandwidth" when the property of that name has changed. `ended` resolves once with {kind, reason}; kind is
 * "left" or one of the kinds in signalling.js.
 */
export class Session extends EventTarget {
  /** The received tracks. @type {Track[]} */
  tracks = [];
  /** All tracks in the room, including those we do not receive. @type {Offered[]} */
  offered = [];
  /**
   * The tracks that we cannot receive; `reason` is "codec" (this browser cannot decode it) or "no_line".
   * @type {Withheld[]}
   */
  withheld = [];
  /** The user ids of the speakers, loudest first, including our own. @type {string[]} */
  speakers = [];
  /** The layers that the SFU is sending for each video, by track id. @type {Map<string, Layers>} */
  layers = new Map();
  /** The estimated capacity of our downlink, or null. @type {Estimate | null} */
  bandwidth = null;
  ended;
  /** The problem that ended the session, if any; see connection_diagnosis.js. @type {Trouble | null} */
  trouble = null;

  /** Our request for each track. @type {Map<string, Partial<LayerRequest>>} */
  #layerRequests = new Map();
  /**
   * Ids of the tracks whose request changed while no socket was connected to the SFU.
   * @type {Set<string>}
   */
  #unsent = new Set();
  #relay;
  #since = performance.now();
  #connected = false;
  #signalling;
  #pc;
  #sending;
  #codec;
  /** @type {RTCIceCandidateInit[]} */
  #candidates = [];
  /** @type {Promise<void>} */
  #work = Promise.resolve();
  /** @type {(ending: Ending) => void} */
  #end = () => {};
  #deadline;
  #reason = "";
  #sound;
  #offeredSound = VOICE;
  #wanted;
  #sealing;
  #encoders;
  // Our microphone and camera belong to one stream, so receivers play them in sync.
  #person = new MediaStream();
  #screen = new MediaStream();

  /**
   * `grant` is the chat server's response to voice_join. `sending` maps each source to the track to publish;
   * after changing it, call `publish`. `sound()` returns whether our audio is music, and the channel's bit
   * rate. `wanted(offered)` returns the tracks to receive. `reachable()` returns whether the chat server
   * responds. `simulcast` sends video in several encodings.
   * @param {{url: URL, grant: Reply<"voice_join">, sending: Map<Source, MediaStreamTrack>, codec: string |
   *   null, sound?: () => Sound, wanted?: (offered: Offered[]) => Offered[], reachable?: () => boolean,
   *   sealing?: CallEncryption | null, simulcast?: boolean}} how
   */
  constructor({
    url,
    grant,
    sending,
    codec,
    sound = () => VOICE,
    wanted = (offered) => offered,
    reachable = () => true,
    sealing = null,
    simulcast = false,
  }) {
    super();
    this.#wanted = wanted;
    this.#sealing = sealing;
    this.#sound = sound;
    /** @type {Promise<Ending>} */
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
    this.#sending = sending;
    this.#codec = codec;
    this.#pc = this.#openPeerConnection(grant.ice_servers);
    this.#relay = new RelayWatch(this.#pc, grant.ice_servers);
    this.#encoders = new VideoEncoders({
      people: () => new Set(this.offered.map(({ userId }) => userId)).size + 1,
      senderOf: (source) => this.#pc.getTransceivers().find(({ mid }) => mid === SOURCES[source])?.sender,
      run: (step) => this.#queue(step),
    });
    const how = { resumable: true, simulcast, bandwidth: true, redundancy: true };
    this.#signalling = new Signalling(
      url,
      "client_join",
      { ...grant.client_join, ...how },
      {
        receive: (event, data) => this.#receive(event, data),
        closed: (kind, reason) => this.#finish(kind, reason === null ? "" : this.#reason || reason),
        unreachable: () => this.abandon(),
        reachable,
        mediaFlows: () => this.#pc.connectionState === "connected",
        received: () => this.#received(),
      },
    );
    this.#deadline = setTimeout(() => this.#finish("lost", ""), CONNECT_DEADLINE_MS);
  }

  get pc() {
    return this.#pc;
  }

  /** Whether a socket is connected to the SFU. */
  get signalled() {
    return this.#signalling.isOpen;
  }

  /** The problem that prevents media; null until connecting takes longer than usual. */
  get obstacle() {
    if (performance.now() - this.#since < TYPICAL_WAIT_MS) return null;
    return diagnosisOf(this.#pc, {
      signalled: this.signalled,
      hadMedia: this.#connected,
      relay: this.#relay.state,
    });
  }

  /**
   * Send the source's track from `sending` in its media section. Stop sending if there is no such track.
   * @param {Source} source
   */
  publish(source) {
    this.#queue(async () => {
      if (this.#pc.remoteDescription && ((await this.#arrange(source)) || this.#soundsDifferent()))
        this.#signalling.send("renegotiate", {});
    });
  }

  /** Request a new negotiation if the wanted tracks or our audio settings have changed. */
  review() {
    this.#queue(() => {
      if (this.#receiveWanted() || (this.#pc.remoteDescription && this.#soundsDifferent()))
        this.#signalling.send("renegotiate", {});
    });
  }

  /**
   * Change our request for a track. Each message to the SFU contains the entire request.
   * @param {string} trackId
   * @param {Partial<LayerRequest>} changes
   */
  requestLayers(trackId, changes) {
    const request = { max_temporal_layer: -1, ...this.#layerRequests.get(trackId), ...changes };
    this.#layerRequests.set(trackId, request);
    if (this.#signalling.isAway) this.#unsent.add(trackId);
    else this.#signalling.send("set_layer", { track_id: trackId, ...request });
  }

  /**
   * Check whether the SFU still responds. Called when no data arrives. The SFU may only be frozen, so the
   * check uses the usual timeout.
   */
  probe() {
    this.#signalling.probe();
  }

  /**
   * Resume the session now if it is interrupted. Called when the chat server is reachable again. Return
   * whether the session was interrupted.
   */
  reconnect() {
    return this.#signalling.reconnect();
  }

  /** Whether the last liveness check is still unanswered. */
  get unanswered() {
    return this.#signalling.unanswered;
  }

  /** End the session, because the SFU is unreachable. */
  abandon() {
    this.#finish("lost", "", { what: "server" });
  }

  leave() {
    this.#finish("left", "");
  }

  /** @param {RTCIceServer[]} iceServers */
  #openPeerConnection(iceServers) {
    // Without this option, Chromium lets frames through untransformed until their transform is set.
    const pc = new RTCPeerConnection({
      iceServers,
      bundlePolicy: "max-bundle",
      encodedInsertableStreams: this.#sealing !== null,
    });
    pc.addEventListener("icecandidate", ({ candidate }) => {
      if (candidate?.candidate) this.#signalling.send("candidate", candidate);
    });
    pc.addEventListener("connectionstatechange", () => this.#connectionChanged());
    return pc;
  }

  async #received() {
    const statistics = [...(await this.#pc.getStats()).values()];
    return statistics.reduce(
      (sum, { type, bytesReceived }) => sum + (type === "transport" ? bytesReceived : 0),
      0,
    );
  }

  /** React to the SFU resuming the session. The next offer contains everything that we missed. */
  #resumed() {
    this.#signalling.resumed();
    this.withheld = [];
    for (const trackId of this.#unsent) this.requestLayers(trackId, {});
    this.#unsent.clear();
  }

  #connectionChanged() {
    const state = this.#pc.connectionState;
    if (state === "connected") {
      clearTimeout(this.#deadline);
      this.#connected = true;
      this.dispatchEvent(new Event("connected"));
    } else if (state === "disconnected") {
      this.#since = performance.now();
      this.dispatchEvent(new Event("silent"));
      // Our network may have changed. New candidates can save the session.
      this.#signalling.send("renegotiate", { ice_restart: true });
      this.probe(); // The socket may be dead too.
    } else if (state === "failed") {
      this.#finish("lost", "");
    }
  }

  /** @param {string} event @param {string} data */
  #receive(event, data) {
    if (event === "offer") this.#queue(this.#answer.bind(this, JSON.parse(data), this.#signalling.socket));
    else if (event === "resumable") this.#signalling.keepTicket(JSON.parse(data));
    else if (event === "session_resumed") this.#resumed();
    else if (event === "candidate") this.#queue(() => this.#addCandidate(JSON.parse(data)));
    else if (event === "active_speakers") this.#nameSpeakers(JSON.parse(data));
    else if (event === "path_lost")
      this.dispatchEvent(new Event("silent")); // The SFU then sends an offer with an ICE restart.
    else if (event === "path_back") this.dispatchEvent(new Event("connected"));
    else if (event === "track_unavailable" || event === "track_available") this.#withhold(JSON.parse(data));
    else if (event === "layers_wanted") this.#encoders.wantedChanged(JSON.parse(data));
    else if (event === "layers") this.#layersChanged(JSON.parse(data));
    else if (event === "bandwidth") this.#estimated(JSON.parse(data));
    else if (event === "room_error") this.#reason = data;
  }

  /**
   * @param {{type: RTCSdpType, sdp: string, tracks?: NamedTracks}} offer
   * @param {WebSocket} socket The socket that the offer arrived on. Only this socket expects the answer.
   */
  async #answer({ type, sdp, tracks = {} }, socket) {
    this.#offeredSound = this.#sound();
    const sounding = preferSoundQuality(sdp, this.#offeredSound, SOURCES.screen_audio);
    await this.#pc.setRemoteDescription({ type, sdp: withBestVideo(sounding, this.#sealing?.codec) });
    for (const [source, own] of /** @type {[Source, string][]} */ (Object.entries(SOURCES)))
      this.#sealing?.encrypt(
        /** @type {RTCRtpTransceiver} */ (this.#pc.getTransceivers().find(({ mid }) => mid === own)).sender,
        source,
      );
    this.#nameOffered(tracks);
    // Dispatch "offered" before answering, so that the tiles have their widths when the tracks arrive.
    this.dispatchEvent(new Event("offered"));
    this.#receiveWanted();
    for (const source of /** @type {Source[]} */ (Object.keys(SOURCES))) await this.#arrange(source);
    await this.#encoders.update("camera"); // The number of members in the call may have changed.
    const answer = await this.#pc.createAnswer();
    await this.#pc.setLocalDescription({
      type: answer.type,
      sdp: inStereo(/** @type {string} */ (answer.sdp)),
    });
    if (socket === this.#signalling.socket) this.#signalling.send("answer", this.#pc.localDescription);
    for (const candidate of this.#candidates.splice(0)) await this.#addCandidate(candidate);
    this.#nameTracks();
  }

  /**
   * Add a candidate. If it arrives before the offer, keep it until the offer arrives.
   * @param {RTCIceCandidateInit} candidate
   */
  async #addCandidate(candidate) {
    if (!this.#pc.remoteDescription) this.#candidates.push(candidate);
    else await this.#pc.addIceCandidate(candidate);
  }

  /** @param {NamedTracks} tracks */
  #nameOffered(tracks) {
    this.offered = /** @type {Section[]} */ (this.#pc.getTransceivers())
      .filter(({ mid }) => mid in tracks)
      .map(({ mid, receiver }) => {
        const { track_id: trackId, user_id: userId, source } = tracks[mid];
        this.#sealing?.decrypt(receiver, { userId, source });
        return { mid, trackId, userId, source };
      });
  }

  /** Make the media sections receive exactly the wanted tracks. Return whether any section has changed. */
  #receiveWanted() {
    const mids = new Set(this.#wanted(this.offered).map(({ mid }) => mid));
    const changed = /** @type {Section[]} */ (this.#pc.getTransceivers()).filter(
      ({ mid, direction }) =>
        this.offered.some((track) => track.mid === mid) &&
        direction !== (mids.has(mid) ? "recvonly" : "inactive"),
    );
    for (const section of changed) section.direction = mids.has(section.mid) ? "recvonly" : "inactive";
    return changed.length > 0;
  }

  /** Return whether our audio settings differ from those in the last offer. */
  #soundsDifferent() {
    const { music, kbps } = this.#sound();
    return music !== this.#offeredSound.music || kbps !== this.#offeredSound.kbps;
  }

  #nameTracks() {
    const sections = new Map(this.#pc.getTransceivers().map((section) => [section.mid, section]));
    const withheld = new Set(this.withheld.map(({ trackId }) => trackId));
    this.tracks = this.offered
      .filter(
        ({ mid, trackId }) => sections.get(mid)?.currentDirection === "recvonly" && !withheld.has(trackId),
      )
      .map((track) => ({
        ...track,
        receiver: /** @type {RTCRtpTransceiver} */ (sections.get(track.mid)).receiver,
      }));
    this.dispatchEvent(new Event("tracks"));
  }

  /**
   * Record that a track is withheld. If `reason` is missing, the track is available again or has ended, so
   * remove it from `withheld`.
   * @param {{track_id: string, user_id: string, source: Source, reason?: string}} data
   */
  #withhold({ track_id: trackId, user_id: userId, source, reason }) {
    const others = this.withheld.filter((track) => track.trackId !== trackId);
    this.withheld = reason ? [...others, { trackId, userId, source, reason }] : others;
    this.#queue(() => this.#nameTracks());
  }

  /** @param {{tracks: (Layers & {track_id: string})[]}} changed */
  #layersChanged({ tracks }) {
    const offered = new Set(this.offered.map(({ trackId }) => trackId));
    const before = [...this.layers].filter(([trackId]) => offered.has(trackId));
    this.layers = new Map([
      ...before,
      ...tracks.map((track) => /** @type {const} */ ([track.track_id, track])),
    ]);
    this.dispatchEvent(new Event("layers"));
  }

  /** @param {{estimate_bps: number, reason: string}} estimate */
  #estimated({ estimate_bps: bps, reason }) {
    this.bandwidth = { kbps: Math.round(bps / 1000), reason };
    this.dispatchEvent(new Event("bandwidth"));
  }

  /** @param {{user_ids: string[]}} data */
  #nameSpeakers({ user_ids: userIds }) {
    this.speakers = userIds;
    this.dispatchEvent(new Event("speakers"));
  }

  /**
   * Update a source's media section to match `sending`. Return whether a new offer from the SFU is needed.
   * @param {Source} source
   */
  async #arrange(source) {
    const section = this.#pc.getTransceivers().find(({ mid }) => mid === SOURCES[source]);
    if (!section) return false;
    const track = this.#sending.get(source) ?? null;
    const direction = track ? "sendonly" : "inactive";
    const replaced = section.sender.track !== track;
    if (replaced) await section.sender.replaceTrack(track);
    // The new track may have a different size.
    if (replaced && track && section.direction === direction) await this.#encoders.update(source);
    if (section.direction === direction) return false;
    section.direction = direction;
    if (!track) return true;
    section.sender.setStreams?.(source.startsWith("screen") ? this.#screen : this.#person);
    await this.#encoders.start(source, this.#codec);
    return true;
  }

  /**
   * Process offers, candidates and our own changes one at a time, in order of arrival.
   * @param {() => void | Promise<void>} step
   */
  #queue(step) {
    this.#work = this.#work.then(step).catch((error) => this.#finish("lost", error.message));
  }

  /** @param {string} kind @param {string} reason @param {Trouble | null} [trouble] */
  #finish(kind, reason, trouble = null) {
    // If the media is still connected, only the socket was lost, so there is no problem to explain.
    if (kind === "lost" && !(this.#connected && this.#pc.connectionState === "connected"))
      this.trouble ??= trouble ?? this.obstacle;
    else this.trouble ??= trouble;
    clearTimeout(this.#deadline);
    this.#encoders.stop();
    this.#signalling.close(kind === "left");
    this.#pc.close();
    this.tracks = this.offered = this.withheld = [];
    this.#end({ kind, reason });
  }
}

/**
 * @param {string} offer
 * @param {string} [onlyCodec] The only codec that we can encrypt, if our frames are encrypted.
 */
function withBestVideo(offer, onlyCodec) {
  const codec = onlyCodec ?? (IS_FIREFOX ? "VP8" : null);
  if (codec) return withCodecFirst(offer, codec, [SOURCES.camera, SOURCES.screen]);
  const isVp9Best = IS_DESKTOP_CHROMIUM && allDecodeVp9(offer, SOURCES.camera);
  return isVp9Best ? withCodecFirst(offer, "VP9", [SOURCES.camera]) : offer;
}
