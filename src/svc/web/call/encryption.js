// Encrypts a call end to end: a worker encrypts outgoing frames and decrypts incoming frames, so the server
// cannot hear the call. The keys come from the group of the private conversation or of the channel's call. A
// browser without frame transforms cannot join an encrypted call. See docs/private.md.

/** @import { Keys } from "../state/private/channel_calls.js" */
/** @import { Offered, Source } from "./session.js" */

import { isPrivateRoom, keyHolders } from "../state/private_calls.js";
import { privateClient } from "../state/private_client.js";

const STAY_WORDS = 2; // The number of random 32-bit words in a session's identifier.

/** @type {TrustedTypePolicy | null | undefined} */
let policy; // Null if the browser does not support Trusted Types.

/**
 * Return the encryption for a call in a private conversation or an encrypted channel, or null for any other
 * call.
 * @param {string} roomId
 * @param {boolean} encrypted
 */
export const encryptionFor = (roomId, encrypted) =>
  encrypted || isPrivateRoom(roomId)
    ? new CallEncryption(roomId, encrypted ? channelEncryption : conversationEncryption)
    : null;

export class CallEncryption {
  /** The codec of encrypted video. The worker knows which bytes of a VP8 frame must stay readable for
   * packetising. */
  codec = "VP8";

  #worker;
  #follow;
  /** @type {WeakMap<RTCRtpSender | RTCRtpReceiver, string>} */
  #sections = new WeakMap();

  /**
   * `follow` passes each epoch's keys to `onKeys` until the function that it returns is called.
   * @param {string} roomId
   * @param {(roomId: string, onKeys: (epoch: Keys) => void) => () => void} follow
   */
  constructor(roomId, follow) {
    this.#worker = new Worker(address(), { type: "module", name: "svc.sealing" });
    this.#follow = follow(roomId, (epoch) => this.#worker.postMessage({ epoch }));
  }

  /** Encrypt every frame that this sender sends. @param {RTCRtpSender} sender @param {Source} source */
  encrypt(sender, source) {
    if (this.#sections.has(sender)) return;
    this.#sections.set(sender, source);
    const video = source === "camera" || source === "screen";
    const stay = crypto.getRandomValues(new Uint32Array(STAY_WORDS));
    sender.transform = new RTCRtpScriptTransform(this.#worker, {
      send: true,
      source,
      video,
      stay: [...stay],
    });
  }

  /**
   * Decrypt this receiver's frames, provided that they come from the member and source assigned to its media
   * section.
   * @param {RTCRtpReceiver} receiver
   * @param {Pick<Offered, "userId" | "source">} owner
   */
  decrypt(receiver, { userId, source }) {
    const known = this.#sections.get(receiver);
    const section = known ?? crypto.randomUUID();
    // A media section keeps its transform when it is reused for another member, so send the new member to the
    // worker.
    this.#worker.postMessage({ owner: { section, memberId: userId, source } });
    if (known) return;
    this.#sections.set(receiver, section);
    receiver.transform = new RTCRtpScriptTransform(this.#worker, {
      section,
      video: receiver.track.kind === "video",
    });
  }

  stop() {
    this.#follow();
    this.#worker.terminate();
  }
}

/** @param {string} conversationId @param {(epoch: Keys) => void} onKeys */
function conversationEncryption(conversationId, onKeys) {
  const subscription = privateClient().then((client) => client.followConversation(conversationId, onKeys));
  subscription.catch(reportError);
  return () => {
    subscription.then(
      (stop) => stop(),
      () => {},
    );
  };
}

/** @param {string} channelId @param {(epoch: Keys) => void} onKeys */
function channelEncryption(channelId, onKeys) {
  const subscription = privateClient().then((client) =>
    client.followCall(channelId, (epoch) => {
      onKeys(epoch);
      keyHolders.value = Object.values(epoch.members).map((id) => id ?? "");
    }),
  );
  subscription.catch(reportError);
  return () => {
    keyHolders.value = [];
    subscription.then(
      (stop) => stop(),
      () => {},
    );
  };
}

/** Return the URL of the worker, which is the only URL that our Trusted Types policy allows. */
function address() {
  const url = new URL("../frame_encryption/worker.js", import.meta.url).href;
  policy ??= globalThis.trustedTypes?.createPolicy("sealing", { createScriptURL: () => url }) ?? null;
  return policy ? policy.createScriptURL("") : url;
}
