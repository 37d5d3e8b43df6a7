// Detects why a call does not connect or has dropped, and explains the problem and how to solve it. Reports
// only problems that persist, and updates the report as it learns more. Does not fix problems.

/**
 * @typedef {{what: "path", ways: string, port: string, relay: string} | {what: "offline" | "server" | "voice"
 *   | "lost" | "signalling" | "encryption", ways?: undefined, port?: undefined, relay?: undefined}} Trouble
 */

import { t } from "../words/words.js";

// The chat server detects within 6 s that the SFU is gone, so a waiting member sees the reason within 8 s.
const JOINING_MS = 6500;
// A call that recovers within half a second is not reported.
const RECONNECTING_MS = 500;
const POLL_MS = 500;
/** @type {Trouble} */
const OFFLINE = { what: "offline" };

/**
 * A poller that looks for the current problem while a call is not connected. `diagnose()` returns the current
 * problem or null, and `report(trouble)` receives each change.
 */
export class TroubleWatch {
  #diagnose;
  #report;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #delay;
  /** @type {ReturnType<typeof setInterval> | undefined} */
  #polling;
  #reported = "null";
  #state = "";
  #networkChanged = () => {
    if (!navigator.onLine) this.#update(OFFLINE);
    else if (this.#state === "connected") this.#update(null);
  };

  /** @param {() => Trouble | null} diagnose @param {(trouble: Trouble | null) => void} report */
  constructor(diagnose, report) {
    this.#diagnose = diagnose;
    this.#report = report;
  }

  /** React to a change in the call's state. @param {string} state */
  stateChanged(state) {
    clearTimeout(this.#delay);
    clearInterval(this.#polling);
    this.#state = state;
    for (const event of ["online", "offline"])
      globalThis[state === "over" ? "removeEventListener" : "addEventListener"]?.(
        event,
        this.#networkChanged,
      );
    if (state === "connected" || state === "over") this.#update(null);
    else
      this.#delay = setTimeout(
        () => {
          const poll = () => this.#update(navigator.onLine ? this.#diagnose() : OFFLINE);
          this.#polling = setInterval(poll, POLL_MS);
          poll();
        },
        state === "joining" ? JOINING_MS : RECONNECTING_MS,
      );
  }

  /** @param {Trouble | null} trouble */
  #update(trouble) {
    const text = JSON.stringify(trouble);
    if (text === this.#reported) return;
    this.#reported = text;
    this.#report(trouble);
  }
}

// The number of consecutive readings without data, one second apart, that count as silence. An idle path
// needs more readings than one where media was flowing, because browsers send connectivity checks only every
// 2.5 s, so two readings without data are normal on an idle path.
const FLOWING = 2,
  IDLE = 3;
// In bytes per second. Responses to connectivity checks, or a silent microphone, amount to less.
const MEDIA = 1000;

/** A detector for a path on which no data arrives. Browsers report this only after 5 to 7 s. */
export class SilenceWatch {
  #received = Infinity;
  #same = 0;
  // The last data may have arrived at the beginning of a second, so the previous second counts too.
  #grown = [0, 0];

  /**
   * Return true when no data has arrived for FLOWING or IDLE seconds, and again each time that period elapses
   * without data. `received` increases with all data received. Called once a second.
   * @param {number} received
   */
  isSilent(received) {
    const grown = received - this.#received;
    this.#received = received;
    if (grown) {
      this.#grown = [this.#grown[1], grown];
      this.#same = 0;
      return false;
    }
    this.#same += 1;
    return this.#same % (Math.max(...this.#grown) > MEDIA ? FLOWING : IDLE) === 0;
  }
}

// The interval between polls. A silent microphone sends only two packets a second (DTX).
export const STANDSTILL_POLL_MS = 500;
const UNHEARD = 3;

/**
 * A detector for audio and video that have stopped, faster than SilenceWatch. It reports each stop only once,
 * because the members may simply have muted themselves.
 */
export class StandstillWatch {
  #received = 0;
  #same = 0;
  /** Whether any data has arrived since the previous poll. */
  isFlowing = false;

  /**
   * Return true once when all media has stopped. `received` increases with all audio and video received.
   * @param {number} received
   */
  hasStopped(received) {
    this.isFlowing = received > this.#received;
    this.#same = received === this.#received ? this.#same + 1 : 0;
    this.#received = received;
    return this.#same === UNHEARD;
  }
}

/**
 * A monitor of a connection's TURN relays. `state` is "none", "silent", "refused", or "useless" if a relay
 * was allocated but no media passes through it.
 */
export class RelayWatch {
  state = "none";

  /** @param {RTCPeerConnection} pc @param {RTCIceServer[]} [iceServers] */
  constructor(pc, iceServers = []) {
    if (!iceServers.some(({ urls }) => [urls].flat().some((url) => url.startsWith("turn")))) return;
    this.state = "silent";
    pc.addEventListener("icecandidate", ({ candidate }) => {
      if (candidate?.type === "relay") this.state = "useless";
    });
    // Code 701 means that the relay cannot be reached. Any other code comes from the relay itself (RFC 8489
    // section 14.8).
    pc.addEventListener("icecandidateerror", ({ errorCode }) => {
      if (this.state === "silent" && errorCode < 700) this.state = "refused";
    });
  }
}

/**
 * Diagnose a session without media. `signalled` is true if its WebSocket is open, and `hadMedia` if media has
 * flowed before.
 * @param {RTCPeerConnection} pc
 * @param {{signalled: boolean, hadMedia: boolean, relay: string}} how
 * @returns {Trouble}
 */
export function diagnosisOf(pc, { signalled, hadMedia, relay }) {
  const sdp = pc.remoteDescription?.sdp ?? "";
  if (!signalled || !sdp) return { what: "signalling" };
  if (!hadMedia && ["connected", "completed"].includes(pc.iceConnectionState)) return { what: "encryption" };
  const offered = [...sdp.matchAll(/^a=candidate:\S+ \d+ (\S+) \d+ \S+ (\d+) /gmu)];
  const tcp = offered.some(([, protocol]) => protocol.toLowerCase() === "tcp");
  return { what: "path", ways: tcp ? "both" : "udp", port: offered[0]?.[2] ?? "", relay };
}

/**
 * Return a sentence that explains the problem to the member, or "" if there is no problem.
 * @param {Trouble | null} trouble
 */
export function troubleText(trouble) {
  if (!trouble) return "";
  const { what, ways, port, relay } = trouble;
  if (what !== "path") return t(`trouble-${what}`);
  return [
    t("trouble-path", { ways, port }),
    relay !== "none" && t("trouble-relay", { relay }),
    t("trouble-elsewhere"),
  ]
    .filter(Boolean)
    .join(" ");
}
