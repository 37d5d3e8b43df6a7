// What keeps a call from coming about, or has broken it, in words and with what one can do. It is said when that has lasted
// for longer than usual, and corrected while more is learnt. Mends nothing.

/** @typedef {{what: "path", ways: string, port: string, relay: string} | {what: "offline" | "server" | "voice" | "lost" | "signalling" | "encryption", ways?: undefined, port?: undefined, relay?: undefined}} Trouble */

import { t } from "../words/words.js";

// The server says within 6 s that its media service is gone; a person who waits is told within 8 s.
const JOINING_MS = 6500;
// A call that is whole again within half a second says nothing.
const RECONNECTING_MS = 500;
const LOOK_MS = 500;
/** @type {Trouble} */
const OFFLINE = { what: "offline" };

/** Looks while a call is not connected: `look()` gives a trouble or null, `tell(trouble)` hears each that is another one. */
export class TroubleWatch {
  #look; #tell;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #begin;
  /** @type {ReturnType<typeof setInterval> | undefined} */
  #again;
  #said = "null"; #state = "";
  #networkChanged = () => {
    if (!navigator.onLine) this.#say(OFFLINE);
    else if (this.#state === "connected") this.#say(null);
  };

  /** @param {() => Trouble | null} look @param {(trouble: Trouble | null) => void} tell */
  constructor(look, tell) {
    this.#look = look;
    this.#tell = tell;
  }

  /** The call is in this state now; called once for each change. @param {string} state */
  became(state) {
    clearTimeout(this.#begin);
    clearInterval(this.#again);
    this.#state = state;
    for (const event of ["online", "offline"]) globalThis[state === "over" ? "removeEventListener" : "addEventListener"]?.(event, this.#networkChanged);
    if (state === "connected" || state === "over") this.#say(null);
    else this.#begin = setTimeout(() => {
      const look = () => this.#say(navigator.onLine ? this.#look() : OFFLINE);
      this.#again = setInterval(look, LOOK_MS);
      look();
    }, state === "joining" ? JOINING_MS : RECONNECTING_MS);
  }

  /** @param {Trouble | null} trouble */
  #say(trouble) {
    const said = JSON.stringify(trouble);
    if (said === this.#said) return;
    this.#said = said;
    this.#tell(trouble);
  }
}

// Readings, a second apart, that say that nothing has come: where media flowed until then, and where it did not. Of an idle
// path two may be the same, for browsers ask it every 2.5 s.
const FLOWING = 2, IDLE = 3;
// More than answers to checks, and than a voice that is silent: bytes in a second.
const MEDIA = 1000;

/** Notices that nothing comes any more, which a browser says after 5 to 7 s only. */
export class SilenceWatch {
  #came = Infinity; #same = 0;
  // The last of it may have come at the beginning of a second, so the second before counts, too.
  #grown = [0, 0];

  /** Whether nothing has come for a while, or for that long again. `came` grows with all that does; called once a second. @param {number} came */
  hears(came) {
    const grown = came - this.#came;
    this.#came = came;
    if (grown) {
      this.#grown = [this.#grown[1], grown];
      this.#same = 0;
      return false;
    }
    this.#same += 1;
    return this.#same % (Math.max(...this.#grown) > MEDIA ? FLOWING : IDLE) === 0;
  }
}

// Looks, half a second apart: even a voice that is silent sends two packets a second (DTX).
export const HEAR_EVERY_MS = 500;
const UNHEARD = 3;

/** Notices sooner that voices and pictures have stopped; once, for they may just have been muted. */
export class StandstillWatch {
  #heard = 0; #same = 0;
  /** Has anything come since the look before? */
  goesOn = false;

  /** Whether all that came has just stopped. `heard` grows with whatever is heard or seen. @param {number} heard */
  stops(heard) {
    this.goesOn = heard > this.#heard;
    this.#same = heard === this.#heard ? this.#same + 1 : 0;
    this.#heard = heard;
    return this.#same === UNHEARD;
  }
}

/** How the relays (TURN) of a connection do: "none", "silent", "refused", or "useless" where one was given and nothing comes. */
export class RelayWatch {
  state = "none";

  /** @param {RTCPeerConnection} pc @param {RTCIceServer[]} [iceServers] */
  constructor(pc, iceServers = []) {
    if (!iceServers.some(({ urls }) => [urls].flat().some((url) => url.startsWith("turn")))) return;
    this.state = "silent";
    pc.addEventListener("icecandidate", ({ candidate }) => {
      if (candidate?.type === "relay") this.state = "useless";
    });
    // 701: it cannot be reached. Everything else it has answered itself (RFC 8489 section 14.8).
    pc.addEventListener("icecandidateerror", ({ errorCode }) => {
      if (this.state === "silent" && errorCode < 700) this.state = "refused";
    });
  }
}

/** Where a session has got stuck that has no media. `signalled`: its WebSocket is open; `hadMedia`: it has had some. @param {RTCPeerConnection} pc @param {{signalled: boolean, hadMedia: boolean, relay: string}} how @returns {Trouble} */
export function stuck(pc, { signalled, hadMedia, relay }) {
  const sdp = pc.remoteDescription?.sdp ?? "";
  if (!signalled || !sdp) return { what: "signalling" };
  if (!hadMedia && ["connected", "completed"].includes(pc.iceConnectionState)) return { what: "encryption" };
  const offered = [...sdp.matchAll(/^a=candidate:\S+ \d+ (\S+) \d+ \S+ (\d+) /gmu)];
  const tcp = offered.some(([, protocol]) => protocol.toLowerCase() === "tcp");
  return { what: "path", ways: tcp ? "both" : "udp", port: offered[0]?.[2] ?? "", relay };
}

/** A trouble for the person; "" for none. @param {Trouble | null} trouble */
export function explained(trouble) {
  if (!trouble) return "";
  const { what, ways, port, relay } = trouble;
  if (what !== "path") return t(`trouble-${what}`);
  return [t("trouble-path", { ways, port }), relay !== "none" && t("trouble-relay", { relay }), t("trouble-elsewhere")].filter(Boolean).join(" ");
}
