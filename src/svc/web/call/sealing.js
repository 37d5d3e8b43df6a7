// A call that the server cannot hear: what is sent goes through a worker that seals it, what comes through one that opens
// it. Which keys there are, the group says: of the private conversation, or of the channel's call. Where the browser cannot do that, nothing is sent. docs/private.md

/** @import { Keys } from "../state/private/channel_calls.js" */
/** @import { Offered, Source } from "./session.js" */

import { isPrivateRoom, keyHolders } from "../state/private_calls.js";
import { theRunning } from "../state/private_talks.js";

const STAY_WORDS = 2; // Of 32 bits: a number that no other stay has.

/** @type {TrustedTypePolicy | null | undefined} */
let policy; // Null where the browser has no trusted types.

/** The sealing of a call in a private conversation or in a channel that is encrypted; null for another one. @param {string} roomId @param {boolean} encrypted */
export const sealingOf = (roomId, encrypted) => (encrypted || isPrivateRoom(roomId) ? new Sealing(roomId, encrypted ? ofChannel : ofTalk) : null);

export class Sealing {
  /** Sealed pictures are sent as this: of its frames it is known what packets need to read. */
  codec = "VP8";

  #worker; #follow;
  /** @type {WeakMap<RTCRtpSender | RTCRtpReceiver, string>} */
  #lines = new WeakMap();

  /** `follow` tells of the keys of each epoch, until what it gives is called. @param {string} roomId @param {(roomId: string, told: (epoch: Keys) => void) => () => void} follow */
  constructor(roomId, follow) {
    this.#worker = new Worker(address(), { type: "module", name: "svc.sealing" });
    this.#follow = follow(roomId, (epoch) => this.#worker.postMessage({ epoch }));
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

/** @param {string} talkId @param {(epoch: Keys) => void} told */
function ofTalk(talkId, told) {
  const following = theRunning().then((running) => running.followTalk(talkId, told));
  following.catch(reportError);
  return () => { following.then((stop) => stop(), () => {}); };
}

/** @param {string} channelId @param {(epoch: Keys) => void} told */
function ofChannel(channelId, told) {
  const following = theRunning().then((running) => running.followCall(channelId, (epoch) => {
    told(epoch);
    keyHolders.value = Object.values(epoch.members).map((id) => id ?? "");
  }));
  following.catch(reportError);
  return () => {
    keyHolders.value = [];
    following.then((stop) => stop(), () => {});
  };
}

/** The one address that a call runs a worker from. */
function address() {
  const url = new URL("../sealing/worker.js", import.meta.url).href;
  policy ??= globalThis.trustedTypes?.createPolicy("sealing", { createScriptURL: () => url }) ?? null;
  return policy ? policy.createScriptURL("") : url;
}
