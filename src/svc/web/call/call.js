// Keeps a call in a voice room running, through as many SFU sessions as needed, until the member leaves.
// Keeps the published tracks across sessions and requests a new grant for each session. session.js handles
// SDP and ICE candidates. Does not use the DOM.

/** @import { Reply } from "../types/wire.js" */
/** @import { Reading } from "./call_statistics.js" */
/** @import { CallEncryption } from "./encryption.js" */
/** @import { Ending, Estimate, Layers, Offered } from "./session.js" */
/** @import { Session, Sound, Source, Track, LayerRequest, Withheld } from "./session.js" */
/** @import { Trouble } from "./connection_diagnosis.js" */

import { Backoff, pause } from "../transport/backoff.js";
import { explain } from "../words/words.js";
import {
  troubleText,
  STANDSTILL_POLL_MS,
  SilenceWatch,
  StandstillWatch,
  TroubleWatch,
} from "./connection_diagnosis.js";

// After these endings, the call does not reconnect: we have left, our session has been replaced by another
// tab, or somebody has removed us.
const FINAL = new Set(["left", "replaced", "removed"]);
// After this long without a response, either the SFU is frozen or the network is gone. By then, we know
// whether the chat server is silent too.
const STANDING_MS = 1500;
// Once the chat server has responded over a new connection, the SFU must respond or send media within this
// time.
const LAST_CHANCE_MS = 400;
/** The properties that a new session resets. */
const RENEWED = /** @type {const} */ (["tracks", "speakers", "layers", "bandwidth"]);

/**
 * A call. It dispatches "state", "trouble", "offered", "tracks", "speakers", "layers" or "bandwidth" after
 * the property of that name has changed.
 */
export class Call extends EventTarget {
  /** The call's state: "joining", "connected", "reconnecting" or "over". */
  state = "joining";
  /** A sentence that explains why the call does not work, or "" while it works. */
  trouble = "";

  #requestGrant;
  #codec;
  #sound;
  #wanted;
  /** @type {Map<Source, MediaStreamTrack>} */
  #sending = new Map();
  /** @type {Session | null} */
  #session = null;
  #leaving = new AbortController();
  #retryTimer = new AbortController();
  #backoff = new Backoff(250, 1000);
  #attempts = 0;
  #reachable;
  #sealing;
  #simulcast;
  #doubt;
  #requesting = false;
  /** @type {Trouble | null} */
  #lastTrouble = null;
  #silence = new SilenceWatch();
  #standstill = new StandstillWatch();
  /** @type {ReturnType<typeof setInterval> | undefined} */
  #mediaTimer;
  #stableTimer = false;
  #watch = new TroubleWatch(
    () => this.#diagnose(),
    (trouble) => {
      this.trouble = troubleText(trouble);
      this.#changed("trouble");
    },
  );

  /**
   * `requestGrant` requests admission from the chat server: async () => {urls, ice_servers, client_join}.
   * `codec` ("VP8", "VP9", "H264", "AV1") selects the codec of our video; the default is the SFU's first
   * choice. The page reads it from location.hash (#codec=AV1), for experiments and tests. `sound()` returns
   * whether our audio is music, and the channel's bit rate. `wanted(offered)` returns the tracks to receive.
   * `sealing` (encryption.js) encrypts the call end to end. `reachable()` returns whether the chat server
   * responds, and `doubt()` checks whether it still does. `simulcast` sends video in several encodings.
   * @param {{requestGrant: () => Promise<Reply<"voice_join">>, codec?: string | null, sound?: () => Sound,
   *   wanted?: (offered: Offered[]) => Offered[], reachable?: () => boolean, doubt?: () => void, sealing?:
   *   CallEncryption | null, simulcast?: boolean}} how
   */
  constructor({
    requestGrant,
    codec = null,
    sound,
    wanted,
    reachable = () => true,
    doubt = () => {},
    sealing = null,
    simulcast = false,
  }) {
    super();
    this.#reachable = reachable;
    this.#doubt = doubt;
    this.#watch.stateChanged(this.state);
    this.#wanted = wanted;
    this.#sound = sound;
    this.#requestGrant = requestGrant;
    this.#codec = sealing?.codec ?? codec;
    this.#sealing = sealing;
    this.#simulcast = simulcast;
  }

  /** The received tracks: [{mid, trackId, userId, source, receiver}]. @returns {Track[]} */
  get tracks() {
    return this.#session?.tracks ?? [];
  }

  /**
   * All tracks in the room, including those we do not receive: [{mid, trackId, userId, source}].
   * @returns {Offered[]}
   */
  get offered() {
    return this.#session?.offered ?? [];
  }

  /**
   * The tracks that we cannot receive: [{trackId, userId, source, reason}]; reason is "codec" or "no_line".
   * @returns {Withheld[]}
   */
  get withheld() {
    return this.#session?.withheld ?? [];
  }

  /** The user ids of the speakers, loudest first, including our own. @returns {string[]} */
  get speakers() {
    return this.#session?.speakers ?? [];
  }

  /**
   * The layers that the SFU is sending for each video, by track id. Empty if the SFU does not report layers.
   * @returns {Map<string, Layers>}
   */
  get layers() {
    return this.#session?.layers ?? new Map();
  }

  /** The estimated capacity of our downlink, or null. @returns {Estimate | null} */
  get bandwidth() {
    return this.#session?.bandwidth ?? null;
  }

  /** The current RTCPeerConnection, for statistics. */
  get pc() {
    return this.#session?.pc ?? null;
  }

  /** Whether signalling reaches the SFU. Media can continue without signalling. */
  get signalled() {
    return this.#session?.signalled ?? false;
  }

  /**
   * Publish `track` as "mic", "camera", "screen" or "screen_audio"; null unpublishes it.
   * @param {Source} source
   * @param {MediaStreamTrack | null} track
   */
  publish(source, track) {
    if (track) this.#sending.set(source, track);
    else this.#sending.delete(source);
    this.#session?.publish(source);
  }

  /**
   * Receive only this track's temporal layers up to `layer`: 0 for a quarter of the frames, 1 for half of
   * them, 2 or -1 for all. The limit lasts as long as the session. After a reconnect, all layers are sent
   * again.
   * @param {string} trackId @param {number} layer
   */
  setLayer(trackId, layer) {
    this.requestLayers(trackId, { max_temporal_layer: layer });
  }

  /**
   * Change our request for a track. Like a `setLayer` limit, the change lasts as long as the session.
   * @param {string} trackId
   * @param {Partial<LayerRequest>} changes
   */
  requestLayers(trackId, changes) {
    this.#session?.requestLayers(trackId, changes);
  }

  /** Apply changes to the wanted tracks or to our audio settings. */
  review() {
    this.#session?.review();
  }

  /**
   * Process a statistics reading. Called once a second while connected.
   * @param {Pick<Reading, "path">} reading
   */
  read({ path }) {
    if (this.#silence.isSilent(path.came)) this.#doubtAll();
  }

  leave() {
    this.#leaving.abort();
    this.#retryTimer.abort();
    this.#session?.leave();
  }

  /**
   * Stay in the room until we leave or are removed. Resolves with {kind, reason}.
   * @returns {Promise<Ending>}
   */
  async joinUntilLeft() {
    let wasConnected = false;
    for (;;) {
      this.#retryTimer = new AbortController();
      const ending = await this.#joinOnce();
      wasConnected ||= this.state === "connected";
      const wasRefused = !wasConnected && ending.kind === "refused";
      if (this.#leaving.signal.aborted || FINAL.has(ending.kind) || wasRefused) {
        this.#sealing?.stop();
        this.#setState("over");
        return ending;
      }
      if (wasConnected) this.#setState("reconnecting");
      await pause(this.#backoff.next(), this.#retryTimer.signal);
    }
  }

  /** Run one session, from requesting its grant to its end. @returns {Promise<Ending>} */
  async #joinOnce() {
    let grant, Session;
    this.#requesting = true;
    try {
      [grant, { Session }] = await Promise.all([this.#requestGrant(), import("./session.js")]);
    } catch (/** @type {any} */ error) {
      // Retry after a network failure (an error without a code), and while the SFU is unavailable, because it
      // may be restarting.
      const passing = !error.code || error.code === "unreachable" || error.code === "voice_unavailable";
      this.#lastTrouble = { what: error.code === "voice_unavailable" ? "voice" : "server" };
      return { kind: passing ? "lost" : "refused", reason: explain(error) };
    } finally {
      this.#requesting = false;
    }
    if (this.#leaving.signal.aborted) return { kind: "left", reason: "" };
    const url = webSocketUrl(grant.urls[this.#attempts++ % grant.urls.length]);
    const session = new Session({
      url,
      grant,
      sending: this.#sending,
      codec: this.#codec,
      sound: this.#sound,
      wanted: this.#wanted,
      reachable: this.#reachable,
      sealing: this.#sealing,
      simulcast: this.#simulcast,
    });
    this.#session = session;
    for (const property of /** @type {const} */ (["offered", ...RENEWED]))
      session.addEventListener(property, () => this.#changed(property));
    session.addEventListener("connected", () => {
      this.#backoff.reset();
      this.#setState("connected");
    });
    session.addEventListener("silent", () => this.#setState("reconnecting"));
    const ending = await session.ended;
    clearInterval(this.#mediaTimer);
    this.#stableTimer = false;
    this.#session = null;
    this.#lastTrouble = session.trouble;
    for (const property of RENEWED) this.#changed(property);
    return ending;
  }

  /**
   * React to the chat server becoming reachable again. If the SFU is still silent, the session used a network
   * that is gone, so abandon the session. If the SFU was only frozen, it responds within LAST_CHANCE_MS, and
   * the call continues.
   */
  async connectionRestored() {
    const session = this.#session;
    if (session?.reconnect()) return;
    if (!session)
      this.#retryTimer.abort(); // Starting a session needs only the chat server, so retry now.
    else if (session.unanswered) {
      const before = this.#received();
      await pause(LAST_CHANCE_MS);
      if (session !== this.#session || !session.unanswered || this.#received() > before) return;
      this.#retryTimer.abort();
      session.abandon();
    } else session.probe();
  }

  #checkMedia() {
    const stops = this.#standstill.hasStopped(this.#received());
    if (this.#stableTimer && (this.#standstill.isFlowing || !this.#session?.unanswered)) {
      this.#stableTimer = false;
      if (this.pc?.connectionState === "connected") this.#setState("connected");
    }
    if (stops && this.state === "connected") this.#doubtAll();
  }

  /** Return a number that increases while audio or video from others arrives. */
  #received() {
    return this.tracks.reduce(
      (sum, { receiver }) => sum + (receiver.getSynchronizationSources()[0]?.timestamp ?? 0),
      0,
    );
  }

  async #doubtAll() {
    const session = this.#session;
    session?.probe();
    this.#doubt(); // Check the chat server too, because it must grant the next session.
    const before = this.#received();
    await pause(STANDING_MS);
    if (!session?.unanswered || session !== this.#session || this.#received() > before) return;
    this.#stableTimer = true;
    this.#setState("reconnecting");
  }

  /**
   * Return the problem that keeps the call from working, if known. Called by TroubleWatch.
   * @returns {Trouble}
   */
  #diagnose() {
    if (!this.#reachable()) return { what: "server" };
    if (this.#stableTimer) return { what: "voice" };
    const known = this.#session?.obstacle ?? this.#lastTrouble;
    return known ?? { what: this.#requesting && this.state === "joining" ? "server" : "lost" };
  }

  /** @param {string} state */
  #setState(state) {
    if (this.state === state) return;
    this.state = state;
    if (state === "connected") {
      clearInterval(this.#mediaTimer);
      this.#mediaTimer = setInterval(() => this.#checkMedia(), STANDSTILL_POLL_MS);
      this.#lastTrouble = null;
    } else if (state === "reconnecting") this.#doubt();
    this.#watch.stateChanged(state);
    this.#changed("state");
  }

  /** @param {string} property */
  #changed(property) {
    this.dispatchEvent(new Event(property));
  }
}

/** Resolve the signalling URL, which may be relative to the server's origin. @param {string} address */
function webSocketUrl(address) {
  const url = new URL(address, location.href);
  url.protocol = url.protocol.replace("http", "ws");
  return url;
}
