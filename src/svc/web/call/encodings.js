// Computes the encodings of our video from its source, the width at which others show it, and the number of
// members in the call. Lists the sizes, frame rates and bit rates for screen sharing. Contains only pure
// functions.

/**
 * The combined request from all receivers of a video. A `width` of 0 means unknown. `encodings` lists,
 * smallest first, whether any receiver needs that encoding. If absent, all may be needed.
 * @typedef {{width: number, watched: boolean, encodings?: boolean[]}} Wanted
 */

/** The request that is assumed until the SFU sends one. @type {Wanted} */
export const ALL_WANTED = { width: 0, watched: true };

// Text has only two temporal layers: its frame rate is low, and with three layers the lowest would get a
// quarter of it. Without an explicit limit, Chromium sends at most 2.5 Mbit/s, which is too little for 60
// frames per second or for 4K. `sparingBps` is for metered connections.
const SCREENS = {
  text: { scalabilityMode: "L1T2", bps: 4_000_000, sparingBps: 1_000_000 },
  motion: { scalabilityMode: "L1T3", bps: 8_000_000, sparingBps: 1_500_000 },
};
// The bit rate for a camera shown at most this wide. Other products use similar sizes for cameras. By
// default, Chromium would send 1.7 Mbit/s for a 200-pixel tile.
export const TILES = [
  { upToPx: 320, bps: 150_000 },
  { upToPx: 640, bps: 450_000 },
];
// The more members there are, the smaller each large tile's share of a receiver's bandwidth.
const LARGE = [
  { upToPeople: 4, bps: 1_200_000 },
  { upToPeople: 9, bps: 900_000 },
  { upToPeople: Infinity, bps: 700_000 },
];
// With several encodings (simulcast), each has half the width of the next larger one. For a track at least
// this wide, Chromium sends only the first `count` encodings.
const COUNTS = [
  { fromPx: 960, count: 3 },
  { fromPx: 480, count: 2 },
  { fromPx: 0, count: 1 },
];
const DEFAULT_WIDTH_PX = 1280; // Assumed if the width is unknown.
const MIN_WIDTH_PX = 160; // A narrower video would be unrecognisable.
const SHARES = [1, 3 / 8, 1 / 8]; // Shares of a screen's bit rate, largest encoding first.

/** @param {number} px */
const tileOf = (px) => TILES.find(({ upToPx }) => px > 0 && px <= upToPx);

/**
 * Return the parameters of each encoding of a camera or screen, smallest first. `count` is the number of
 * encodings that the SFU has requested. `people` counts everybody in the call, including us. `sparing` is set
 * on a metered connection. `screenBps` is the bit rate chosen for screens, if any.
 * @param {string} source
 * @param {Pick<MediaStreamTrack, "contentHint" | "getSettings">} track
 * @param {Wanted} wanted
 * @param {{people: number, count: number, sparing?: boolean, screenBps?: number}} how
 * @returns {(RTCRtpEncodingParameters & {active: boolean, maxBitrate: number, scaleResolutionDownBy:
 *   number})[]}
 */
export function encodingsFor(source, track, wanted, { people, count, sparing = false, screenBps }) {
  const known = track.getSettings().width ?? 0;
  const shownPx = sparing ? Math.min(wanted.width || Infinity, TILES[0].upToPx) : wanted.width;
  const { bpsOf, scalabilityMode, isText } =
    source === "camera" ? cameraEncodings(people) : screenEncodings(track.contentHint, sparing, screenBps);
  if (count === 1) {
    const scale = source === "camera" ? Math.max(1, known / (tileOf(shownPx)?.upToPx ?? Infinity)) : 1;
    return [
      {
        scalabilityMode,
        active: wanted.watched,
        maxBitrate: bpsOf(shownPx, 0),
        scaleResolutionDownBy: scale,
      },
    ];
  }
  const width = known || DEFAULT_WIDTH_PX;
  const used = Math.min(count, COUNTS.find(({ fromPx }) => width >= fromPx)?.count ?? 1);
  const sizes = Array.from({ length: used }, (_, index) => width / 2 ** (used - 1 - index));
  const enough = source === "camera" ? sizes.findIndex((px) => px >= (shownPx || Infinity)) : -1;
  const highest = enough < 0 ? used - 1 : enough;
  const wide = sizes.findIndex((px) => px >= MIN_WIDTH_PX);
  // Text in a smaller video would be illegible, and the smaller video would take bandwidth from the full-size
  // one.
  const lowest = isText || wide < 0 ? highest : Math.min(wide, highest);
  // If a needed encoding cannot be sent, send the nearest one instead.
  const needed = new Set(
    (wanted.encodings ?? sizes).flatMap((on, index) =>
      on ? [Math.min(Math.max(index, lowest), highest)] : [],
    ),
  );
  return Array.from({ length: count }, (_, index) => {
    const halvings = Math.max(0, used - 1 - index);
    return {
      scalabilityMode,
      active: wanted.watched && needed.has(index),
      maxBitrate: bpsOf(sizes[index] ?? width, halvings),
      scaleResolutionDownBy: 2 ** halvings,
    };
  });
}

/** @param {number} people */
function cameraEncodings(people) {
  const large = /** @type {typeof LARGE[0]} */ (LARGE.find(({ upToPeople }) => people <= upToPeople));
  const bpsOf = (/** @type {number} */ px) => (tileOf(px) ?? large).bps;
  return { bpsOf, scalabilityMode: "L1T3", isText: false };
}

/**
 * @param {string} contentHint
 * @param {boolean} sparing
 * @param {number} [chosenBps]
 */
function screenEncodings(contentHint, sparing, chosenBps) {
  const { bps, sparingBps, scalabilityMode } = contentHint === "motion" ? SCREENS.motion : SCREENS.text;
  const bpsOf = (/** @type {number} */ _px, /** @type {number} */ halvings) =>
    Math.round((sparing ? sparingBps : (chosenBps ?? bps)) * SHARES[halvings]);
  return { bpsOf, scalabilityMode, isText: contentHint !== "motion" };
}

/**
 * Return whether the video sent for the previous request satisfies the current request.
 * @param {Wanted} before
 * @param {Wanted} now
 */
export const isSufficient = (before, now) =>
  !now.watched || (before.watched && (before.width || Infinity) >= (now.width || Infinity));

/**
 * `key` is stored in the call settings. A screen is never upscaled, so its actual size is a limit too.
 * @typedef {{key: string, height: number, fps: number, bps: number}} ScreenSize
 */

/**
 * The choices, in ascending order. Most computers cannot encode more pixels per second than 1440p60.
 * @type {ScreenSize[]}
 */
export const SCREEN_SIZES = [
  { key: "720p15", height: 720, fps: 15, bps: 1_500_000 },
  { key: "720p30", height: 720, fps: 30, bps: 2_500_000 },
  { key: "1080p15", height: 1080, fps: 15, bps: 3_000_000 },
  { key: "1080p30", height: 1080, fps: 30, bps: 5_000_000 },
  { key: "1080p60", height: 1080, fps: 60, bps: 8_000_000 },
  { key: "1440p30", height: 1440, fps: 30, bps: 8_000_000 },
  { key: "1440p60", height: 1440, fps: 60, bps: 12_000_000 },
  { key: "2160p15", height: 2160, fps: 15, bps: 12_000_000 },
];
const WIDEST = 2.4; // The aspect ratio of the widest screens is 43:18.
const AUTOMATIC_FPS = { text: 15, motion: 60 };

/** Return the chosen size, or undefined for the automatic size. @param {{screenSize: string}} settings */
export const chosenSize = ({ screenSize }) => SCREEN_SIZES.find(({ key }) => key === screenSize);

/**
 * Return the constraints for the screen's video. `screen` is "text" or "motion".
 * @param {{screen: string, screenSize: string}} settings
 * @returns {MediaTrackConstraints}
 */
export function screenConstraints(settings) {
  const size = chosenSize(settings);
  if (!size) return { frameRate: AUTOMATIC_FPS[/** @type {"text" | "motion"} */ (settings.screen)] };
  const { height, fps } = size;
  return { height: { max: height }, width: { max: Math.round(height * WIDEST) }, frameRate: { max: fps } };
}
