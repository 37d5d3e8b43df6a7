// Configures the encoders for our camera and screen with the encodings, sizes and bit rates that the other
// members request. Independent of offers and the signalling socket.

/** @import { Wanted } from "./encodings.js" */
/** @import { Source } from "./session.js" */
/**
 * @typedef {{people: () => number, senderOf: (source: Source) => RTCRtpSender | undefined, run: (step: () =>
 *   Promise<void>) => void}} Ports
 */

import { callSettings } from "../state/call_settings.js";
import { chosenSize, ALL_WANTED, encodingsFor, isSufficient } from "./encodings.js";
import { effect } from "../vendor/signals.js";

// Chromium's bandwidth estimate starts at 300 kbit/s and needs half a minute to grow. With
// "maintain-resolution", the video is sharp immediately. After this time, the estimate is high enough without
// this setting.
const KEEP_SIZE_MS = 5000;
// Each new size requires a keyframe, so wait this long before encoding a smaller video, in case a window is
// being resized.
const SMALLER_AFTER_MS = 2000;
const VIDEOS = /** @type {const} */ (["camera", "screen"]);

export class VideoEncoders {
  #ports;
  /** The other members' combined request for each of our sources. @type {Map<Source, Wanted>} */
  #wanted = new Map();
  /** The timers that delay switches to a smaller width. @type {Map<Source, ReturnType<typeof setTimeout>>} */
  #narrowing = new Map();

  /**
   * `people()` counts everybody in the call, including us. `senderOf(source)` returns the RTCRtpSender of a
   * source. `run(step)` runs a step once no offer is being answered.
   * @param {Ports} ports
   */
  constructor(ports) {
    this.#ports = ports;
    const stop = effect(() => {
      callSettings.value; // Read the settings, so that this runs again when they change.
      for (const source of VIDEOS) ports.run(() => this.update(source));
    });
    this.stop = () => {
      stop();
      for (const timer of this.#narrowing.values()) clearTimeout(timer);
    };
  }

  /**
   * Set up the encoding of a source before it is sent. `codec` is a name such as "VP8", or null for the
   * offer's first codec.
   * @param {Source} source
   * @param {string | null} codec
   */
  async start(source, codec) {
    // The SFU learns of a new track only from its packets, so the track must send packets at first.
    clearTimeout(this.#narrowing.get(source));
    this.#wanted.delete(source);
    const sender = this.#ports.senderOf(source);
    if (sender?.track?.kind !== "video") return;
    const chosen = codec && { codec: senderCodec(codec) };
    const encodings = this.#encodingsOf(source, sender, sender.track).map((encoding) => ({
      ...encoding,
      ...chosen,
    }));
    await configure(sender, encodings, "maintain-resolution");
    // Text on a screen must stay sharp, even if its motion is less smooth. With several encodings, receivers
    // choose the size, and a smaller capture would end the larger encodings permanently.
    if ((source === "screen" && sender.track.contentHint !== "motion") || encodings.length > 1) return;
    setTimeout(() => configure(sender, [], "maintain-framerate"), KEEP_SIZE_MS);
  }

  /** Encode a source as currently requested by the other members. @param {Source} source */
  async update(source) {
    const sender = this.#ports.senderOf(source);
    if (sender?.track?.kind === "video")
      await configure(sender, this.#encodingsOf(source, sender, sender.track));
  }

  /**
   * Apply the other members' request. A smaller width is applied after a delay, and all other changes
   * immediately.
   * @param {Wanted & {source: Source}} request
   */
  wantedChanged({ source, width, watched, encodings }) {
    const before = this.#wanted.get(source) ?? ALL_WANTED;
    const now = { width, watched, encodings };
    const isNarrower = watched && before.width !== width && isSufficient(before, now);
    this.#apply(source, isNarrower ? { ...now, width: before.width } : now);
    const later = isNarrower ? setTimeout(() => this.#apply(source, now), SMALLER_AFTER_MS) : undefined;
    clearTimeout(this.#narrowing.get(source));
    if (later !== undefined) this.#narrowing.set(source, later);
  }

  /**
   * @param {Source} source
   * @param {Wanted} wanted
   */
  #apply(source, wanted) {
    this.#wanted.set(source, wanted);
    this.#ports.run(() => this.update(source));
  }

  /**
   * @param {Source} source
   * @param {RTCRtpSender} sender
   * @param {MediaStreamTrack} track
   */
  #encodingsOf(source, sender, track) {
    const count = sender.getParameters().encodings?.length ?? 1;
    const settings = callSettings.peek();
    const screenBps = chosenSize(settings)?.bps;
    const how = { people: this.#ports.people(), count, sparing: settings.lessData, screenBps };
    return encodingsFor(source, track, this.#wanted.get(source) ?? ALL_WANTED, how);
  }
}

/**
 * Set a sender's encodings. Browsers ignore settings that they do not support. An encoding that becomes
 * active starts with a keyframe.
 * @param {RTCRtpSender} sender
 * @param {RTCRtpEncodingParameters[]} wanted
 * @param {RTCDegradationPreference} [degradationPreference]
 */
async function configure(sender, wanted, degradationPreference) {
  const parameters = sender.getParameters();
  if (!parameters.encodings?.length) return;
  const before = parameters.encodings;
  const encodings = before.map((encoding, index) => ({ ...encoding, ...wanted[index] }));
  const isSame = encodings.every((encoding, index) =>
    Object.entries(encoding).every(
      ([name, value]) => before[index][/** @type {keyof RTCRtpEncodingParameters} */ (name)] === value,
    ),
  );
  if (isSame && !degradationPreference) return;
  const encodingOptions = encodings.map(({ active }, index) => ({
    keyFrame: before[index].active === false && active === true,
  }));
  await sender
    .setParameters(
      { ...parameters, encodings, ...(degradationPreference && { degradationPreference }) },
      { encodingOptions },
    )
    .catch(() => {});
}

/** @param {string} name */
function senderCodec(name) {
  const wanted = `video/${name}`.toLowerCase();
  return RTCRtpSender.getCapabilities("video")?.codecs.find(
    ({ mimeType }) => mimeType.toLowerCase() === wanted,
  );
}
