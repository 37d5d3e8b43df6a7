// Being in a voice room: one SFU session after another until the person leaves.
// Keeps what is published across sessions and asks for a fresh grant each time.
// Knows nothing of the page, and leaves SDP and candidates to session.js.

/** @import { Reply } from "../types/wire.js" */
/** @import { Reading } from "./quality.js" */
/** @import { Sealing } from "./sealing.js" */
/** @import { Ending, Offered, Session, Sound, Source, Track, Wish, Withheld } from "./session.js" */
/** @import { Trouble } from "./trouble.js" */

import { Backoff, pause } from "../transport/backoff.js";
import { explain } from "../words/words.js";
import { explained, HEAR_EVERY_MS, SilenceWatch, StandstillWatch, TroubleWatch } from "./trouble.js";

// After these endings we are not wanted back: we left, another tab took our place,
// somebody put us out.
const FINAL = new Set(["left", "replaced", "removed"]);
// Unanswered for so long, the service stands still, or the network has gone: by then the chat server's silence is known.
const STANDING_MS = 1500;
// What the service has to answer in once the chat server has answered over a new connection, or to be heard.
const LAST_CHANCE_MS = 400;

/**
 * Events: "state", "trouble", "offered", "tracks" and "speakers", after the properties of these names have changed.
 */
export class Call extends EventTarget {
  /** "joining", "connected", "reconnecting" or "over". */
  state = "joining";
  /** What keeps us from hearing anybody, in words; "" while nothing does. */
  trouble = "";

  #requestGrant; #codec; #sound; #wanted;
  /** @type {Map<Source, MediaStreamTrack>} */
  #sending = new Map();
  /** @type {Session | null} */
  #session = null;
  #leaving = new AbortController(); #resting = new AbortController(); #backoff = new Backoff(250, 1000); #attempts = 0;
  #reachable; #sealing; #simulcast; #doubt; #asking = false;
  /** @type {Trouble | null} */
  #lastTrouble = null;
  #silence = new SilenceWatch(); #standstill = new StandstillWatch();
  /** @type {ReturnType<typeof setInterval> | undefined} */
  #hearing;
  #standing = false;
  #watch = new TroubleWatch(() => this.#look(), (trouble) => {
    this.trouble = explained(trouble);
    this.#changed("trouble");
  });

  /**
   * `requestGrant` asks the chat server to let us in: async () => {urls, ice_servers, client_join}.
   * `codec` ("VP8", "VP9", "H264", "AV1") chooses what our video is sent as; without it
   * the SFU's first choice is used. The page takes it from location.hash (#codec=AV1);
   * it is there for trying codecs out, and the tests use it. `sound()`: what our sound is, and its channel's rate.
   * `wanted(offered)`: what we want of it. `sealing` (sealing.js) keeps the server from hearing it. `reachable()`: does the chat server answer? `doubt()`: ask it whether it does. `simulcast`: send video in several encodings; #simulcast in the address, for trying it out.
   * @param {{requestGrant: () => Promise<Reply<"voice_join">>, codec?: string | null, sound?: () => Sound, wanted?: (offered: Offered[]) => Offered[], reachable?: () => boolean, doubt?: () => void, sealing?: Sealing | null, simulcast?: boolean}} how
   */
  constructor({ requestGrant, codec = null, sound, wanted, reachable = () => true, doubt = () => {}, sealing = null, simulcast = false }) {
    super();
    this.#reachable = reachable;
    this.#doubt = doubt;
    this.#watch.became(this.state);
    this.#wanted = wanted;
    this.#sound = sound;
    this.#requestGrant = requestGrant;
    this.#codec = sealing?.codec ?? codec;
    this.#sealing = sealing;
    this.#simulcast = simulcast;
  }

  /** What we receive: [{mid, trackId, userId, source, receiver}]. @returns {Track[]} */
  get tracks() {
    return this.#session?.tracks ?? [];
  }

  /** What the room has for us, also what we do not want: [{mid, trackId, userId, source}]. @returns {Offered[]} */
  get offered() {
    return this.#session?.offered ?? [];
  }

  /** What we cannot be sent: [{trackId, userId, source, reason}]; reason is "codec" or "no_line". @returns {Withheld[]} */
  get withheld() {
    return this.#session?.withheld ?? [];
  }

  /** Who speaks, by user id and the loudest first; ourselves too. @returns {string[]} */
  get speakers() {
    return this.#session?.speakers ?? [];
  }

  /** The RTCPeerConnection of the moment, for statistics. */
  get pc() {
    return this.#session?.pc ?? null;
  }

  /** Does signalling lead to the media service? Media may go on without. */
  get signalled() {
    return this.#session?.signalled ?? false;
  }

  /** Publish `track` as "mic", "camera", "screen" or "screen_audio"; null takes it down. @param {Source} source @param {MediaStreamTrack | null} track */
  publish(source, track) {
    if (track) this.#sending.set(source, track);
    else this.#sending.delete(source);
    this.#session?.publish(source);
  }

  /**
   * Receive this track's temporal layers up to `layer` only: 0 for a quarter of the pictures, 1 for half,
   * 2 or -1 for all. Holds while this session does: after a "reconnecting" all of them come again.
   * @param {string} trackId @param {number} layer
   */
  setLayer(trackId, layer) {
    this.wish(trackId, { max_temporal_layer: layer });
  }

  /** Change what we want of a track; holds as long as with `setLayer`. @param {string} trackId @param {Partial<Wish>} changes */
  wish(trackId, changes) {
    this.#session?.wish(trackId, changes);
  }

  /** What we want of the room has changed. */
  review() {
    this.#session?.review();
  }

  /** What the statistics say, once a second while we are connected. @param {Pick<Reading, "path">} reading */
  read({ path }) {
    if (this.#silence.hears(path.came)) this.#doubtAll();
  }

  leave() {
    this.#leaving.abort();
    this.#resting.abort();
    this.#session?.leave();
  }

  /** Stay in the room until leaving or being put out; resolves with {kind, reason}. @returns {Promise<Ending>} */
  async stay() {
    let wasConnected = false;
    for (;;) {
      this.#resting = new AbortController();
      const ending = await this.#stayOnce();
      wasConnected ||= this.state === "connected";
      const refused = !wasConnected && ending.kind === "refused";
      if (this.#leaving.signal.aborted || FINAL.has(ending.kind) || refused) {
        this.#sealing?.stop();
        this.#become("over");
        return ending;
      }
      if (wasConnected) this.#become("reconnecting");
      await pause(this.#backoff.next(), this.#resting.signal);
    }
  }

  /** One session from grant to ending. @returns {Promise<Ending>} */
  async #stayOnce() {
    let grant, Session;
    this.#asking = true;
    try {
      [grant, { Session }] = await Promise.all([this.#requestGrant(), import("./session.js")]);
    } catch (/** @type {any} */ error) {
      // Silence has no code, and a media service that restarts will be back.
      const passing = !error.code || error.code === "unreachable" || error.code === "voice_unavailable";
      this.#lastTrouble = { what: error.code === "voice_unavailable" ? "voice" : "server" };
      return { kind: passing ? "lost" : "refused", reason: explain(error) };
    } finally {
      this.#asking = false;
    }
    if (this.#leaving.signal.aborted) return { kind: "left", reason: "" };
    const url = webSocketUrl(grant.urls[this.#attempts++ % grant.urls.length]);
    const session = new Session({ url, grant, sending: this.#sending, codec: this.#codec, sound: this.#sound, wanted: this.#wanted, reachable: this.#reachable, sealing: this.#sealing, simulcast: this.#simulcast });
    this.#session = session;
    for (const property of /** @type {const} */ (["offered", "tracks", "speakers"])) session.addEventListener(property, () => this.#changed(property));
    session.addEventListener("connected", () => {
      this.#backoff.reset();
      this.#become("connected");
    });
    session.addEventListener("silent", () => this.#become("reconnecting"));
    const ending = await session.ended;
    clearInterval(this.#hearing);
    this.#standing = false;
    this.#session = null;
    this.#lastTrouble = session.trouble;
    for (const property of ["tracks", "speakers"]) this.#changed(property);
    return ending;
  }

  /**
   * The chat server is reached again. If the service is not, that was over another network; a service that has only
   * stood still is heard again by then, and loses nobody.
   */
  async cameBack() {
    const session = this.#session;
    if (session?.comeBack()) return;
    if (!session) this.#resting.abort(); // Whoever waits for the next session needs the chat server alone.
    else if (session.unanswered) {
      const before = this.#heard();
      await pause(LAST_CHANCE_MS);
      if (session !== this.#session || !session.unanswered || this.#heard() > before) return;
      this.#resting.abort();
      session.giveUp();
    } else session.doubt();
  }

  #hear() {
    const stops = this.#standstill.stops(this.#heard());
    if (this.#standing && (this.#standstill.goesOn || !this.#session?.unanswered)) {
      this.#standing = false;
      if (this.pc?.connectionState === "connected") this.#become("connected");
    }
    if (stops && this.state === "connected") this.#doubtAll();
  }

  /** Grows with whatever of the others is heard or seen. */
  #heard() {
    return this.tracks.reduce((sum, { receiver }) => sum + (receiver.getSynchronizationSources()[0]?.timestamp ?? 0), 0);
  }

  async #doubtAll() {
    const session = this.#session;
    session?.doubt();
    this.#doubt(); // The next session needs its grant.
    const before = this.#heard();
    await pause(STANDING_MS);
    if (!session?.unanswered || session !== this.#session || this.#heard() > before) return;
    this.#standing = true;
    this.#become("reconnecting");
  }

  /** What keeps us, as far as that is known; for TroubleWatch. @returns {Trouble} */
  #look() {
    if (!this.#reachable()) return { what: "server" };
    if (this.#standing) return { what: "voice" };
    const known = this.#session?.obstacle ?? this.#lastTrouble;
    return known ?? { what: this.#asking && this.state === "joining" ? "server" : "lost" };
  }

  /** @param {string} state */
  #become(state) {
    if (this.state === state) return;
    this.state = state;
    if (state === "connected") {
      clearInterval(this.#hearing);
      this.#hearing = setInterval(() => this.#hear(), HEAR_EVERY_MS);
      this.#lastTrouble = null;
    } else if (state === "reconnecting") this.#doubt();
    this.#watch.became(state);
    this.#changed("state");
  }

  /** @param {string} property */
  #changed(property) {
    this.dispatchEvent(new Event(property));
  }
}

/** The server may name the signalling address relative to its own origin. @param {string} address */
function webSocketUrl(address) {
  const url = new URL(address, location.href);
  url.protocol = url.protocol.replace("http", "ws");
  return url;
}
