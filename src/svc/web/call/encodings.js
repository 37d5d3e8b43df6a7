// The encoding of our video, by its source, the width at which others show it, and their number. Sans I/O.

/**
 * @typedef {{width: number, watched: boolean}} Wanted The combined request of all receivers of a video;
 *   `width` 0 is unknown.
 */

/** The default until the service sends a request. @type {Wanted} */
export const ALL_WANTED = { width: 0, watched: true };

// Text has two layers, because a quarter of its few pictures would be too few. Without an explicit limit
// Chromium sends at most 2.5 Mbit/s, too little for 60 pictures a second or for 4K.
const ENCODINGS = {
  camera: { scalabilityMode: "L1T3" },
  text: { scalabilityMode: "L1T2", maxBitrate: 4_000_000 },
  motion: { scalabilityMode: "L1T3", maxBitrate: 8_000_000 },
};
// The width and rate of a camera that is shown at most this wide: sizes that others have found good enough
// for a face. Chromium alone would send 1.7 Mbit/s for a tile of 200 pixels.
const TILES = [
  { upToPx: 320, bps: 150_000 },
  { upToPx: 640, bps: 450_000 },
];
// The more people have large tiles, the less of each receiver's bandwidth each gets.
const LARGE = [
  { upToPeople: 4, bps: 1_200_000 },
  { upToPeople: 9, bps: 900_000 },
  { upToPeople: Infinity, bps: 700_000 },
];

/**
 * Return the encoding of a camera or screen. `people` counts everybody in the call, including us.
 * @param {string} source @param {Pick<MediaStreamTrack, "contentHint" | "getSettings">} track @param {Wanted}
 *   wanted @param {number} people
 * @returns {RTCRtpEncodingParameters & {active: boolean, scaleResolutionDownBy: number}}
 */
export function encodingFor(source, track, { width, watched }, people) {
  if (source !== "camera")
    return {
      ...ENCODINGS[/** @type {"text" | "motion"} */ (track.contentHint)],
      active: watched,
      scaleResolutionDownBy: 1,
    };
  const tile = TILES.find(({ upToPx }) => width > 0 && width <= upToPx);
  const large = /** @type {typeof LARGE[0]} */ (LARGE.find(({ upToPeople }) => people <= upToPeople));
  const scaleResolutionDownBy = tile ? Math.max(1, (track.getSettings().width ?? 0) / tile.upToPx) : 1;
  return { ...ENCODINGS.camera, active: watched, maxBitrate: (tile ?? large).bps, scaleResolutionDownBy };
}

// With several encodings (simulcast), each has half the width of the next larger one. Chromium sends this
// many for a track of this width, and uses only the first RIDs.
const COUNTS = [
  { fromPx: 960, count: 3 },
  { fromPx: 480, count: 2 },
  { fromPx: 0, count: 1 },
];
const RIDS = ["q", "h", "f"];
const SHARES = [1, 3 / 8, 1 / 8]; // Of the largest encoding's rate.
const LEAST_WIDTH_PX = 160; // Narrower pictures show nothing.

/**
 * Return one of the encodings that the service has requested by name. `whole` is the single encoding, `width`
 * the track's width, 0 if unknown.
 * @param {RTCRtpEncodingParameters} whole @param {string | undefined} rid @param {number} width @returns
 *   {RTCRtpEncodingParameters}
 */
export function oneOfSeveral(whole, rid, width) {
  const { scaleResolutionDownBy, maxBitrate, active } = whole;
  if (!rid || scaleResolutionDownBy === undefined) return whole;
  const { count } = /** @type {typeof COUNTS[0]} */ (
    COUNTS.find(({ fromPx }) => (width || Infinity) >= fromPx)
  );
  const halvings = count - 1 - RIDS.indexOf(rid);
  if (halvings < 0) return { ...whole, active: false };
  const scaled = scaleResolutionDownBy * 2 ** halvings;
  const isWideEnough = halvings === 0 || !width || width / scaled >= LEAST_WIDTH_PX;
  return {
    ...whole,
    active: active && isWideEnough,
    scaleResolutionDownBy: scaled,
    ...(maxBitrate && { maxBitrate: Math.round(maxBitrate * SHARES[halvings]) }),
  };
}

/** Return whether the previous request covers the present one. @param {Wanted} before @param {Wanted} now */
export const suffices = (before, now) =>
  !now.watched || (before.watched && (before.width || Infinity) >= (now.width || Infinity));
