// A call that the server cannot hear: what is sent goes through a worker that seals it, what comes through one that opens
// it. Which keys there are, the private conversation says. Where the browser cannot do that, nothing is sent. docs/private.md

/** @import { Offered, Source } from "./session.js" */

import { isPrivateRoom } from "../state/private_calls.js";
import { talksById, theRunning } from "../state/private_talks.js";
import { effect } from "../vendor/signals.js";

const STAY_WORDS = 2; // Of 32 bits: a number that no other stay has.

/** @type {TrustedTypePolicy | null | undefined} */
let policy; // Null where the browser has no trusted types.

/** The sealing of a call that is a private conversation's; null for a voice channel. @param {string} roomId */
export const sealingOf = (roomId) => (isPrivateRoom(roomId) ? new Sealing(roomId) : null);

export class Sealing {
  /** Sealed pictures are sent as this: of its frames it is known what packets need to read. */
  codec = "VP8";

  #worker; #follow;
  /** @type {WeakMap<RTCRtpSender | RTCRtpReceiver, string>} */
  #lines = new WeakMap();

  /** @param {string} talkId */
  constructor(talkId) {
    this.#worker = new Worker(address(), { type: "module", name: "svc.sealing" });
    // Whenever something is read of the conversation, its group may be in another epoch.
    this.#follow = effect(() => {
      talksById.value.get(talkId);
      theRunning().then((running) => running.callKeysOf(talkId)).then((epoch) => {
        if (epoch) this.#worker.postMessage({ epoch });
      }).catch(reportError);
    });
  }

  /** Nothing leaves by this sender unsealed. @param {RTCRtpSender} sender @param {Source} source */
  seal(sender, source) {
    if (this.#lines.has(sender)) return;
    this.#lines.set(sender, source);
    const video = source === "camera" || source === "screen";
    const stay = crypto.getRandomValues(new Uint32Array(STAY_WORDS));
    sender.transform = new RTCRtpScriptTransform(this.#worker, { send: true, source, video, stay: [...stay] });
  }

  /** What comes by this receiver is opened, where it is from who the line is said to be of. @param {RTCRtpReceiver} receiver @param {Pick<Offered, "userId" | "source">} owner */
  open(receiver, { userId, source }) {
    const known = this.#lines.get(receiver);
    const line = known ?? crypto.randomUUID();
    // A line that was somebody else's comes through the same transform.
    this.#worker.postMessage({ owner: { line, memberId: userId, source } });
    if (known) return;
    this.#lines.set(receiver, line);
    receiver.transform = new RTCRtpScriptTransform(this.#worker, { line, video: receiver.track.kind === "video" });
  }

  stop() {
    this.#follow();
    this.#worker.terminate();
  }
}

/** The one address that a call runs a worker from. */
function address() {
  const url = new URL("../sealing/worker.js", import.meta.url).href;
  policy ??= globalThis.trustedTypes?.createPolicy("sealing", { createScriptURL: () => url }) ?? null;
  return policy ? policy.createScriptURL("") : url;
}
