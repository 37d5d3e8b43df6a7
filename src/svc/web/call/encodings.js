// How our video is encoded: by its source, by how wide the others show it, and by how many they are. Sans I/O.

/** @typedef {{width: number, watched: boolean}} Wanted What all who receive a video want of it; `width` 0 is unknown. */

/** What counts until the service says otherwise. @type {Wanted} */
export const ALL_WANTED = { width: 0, watched: true };

// Of the few pictures of a text a quarter would be too few, so it has two layers; without a limit of our own
// Chromium sends no more than 2.5 Mbit/s, too little for 60 pictures a second or for 4K.
const ENCODINGS = {
  camera: { scalabilityMode: "L1T3" },
  text: { scalabilityMode: "L1T2", maxBitrate: 4_000_000 },
  motion: { scalabilityMode: "L1T3", maxBitrate: 8_000_000 },
};
// A camera that is shown so wide at most is sent no wider, and with so much: the sizes that others have found good
// enough for a face. Chromium alone would send 1.7 Mbit/s for a tile of 200 pixels.
const TILES = [{ upToPx: 320, bps: 150_000 }, { upToPx: 640, bps: 450_000 }];
// More people with large tiles have to share what comes to each of them.
const LARGE = [{ upToPeople: 4, bps: 1_200_000 }, { upToPeople: 9, bps: 900_000 }, { upToPeople: Infinity, bps: 700_000 }];

/**
 * The encoding of a camera or screen; `people` are in the call, ourselves too.
 * @param {string} source @param {Pick<MediaStreamTrack, "contentHint" | "getSettings">} track @param {Wanted} wanted @param {number} people
 * @returns {RTCRtpEncodingParameters & {active: boolean, scaleResolutionDownBy: number}}
 */
export function encodingFor(source, track, { width, watched }, people) {
  if (source !== "camera") return { ...ENCODINGS[/** @type {"text" | "motion"} */ (track.contentHint)], active: watched, scaleResolutionDownBy: 1 };
  const tile = TILES.find(({ upToPx }) => width > 0 && width <= upToPx);
  const large = /** @type {typeof LARGE[0]} */ (LARGE.find(({ upToPeople }) => people <= upToPeople));
  const scaleResolutionDownBy = tile ? Math.max(1, (track.getSettings().width ?? 0) / tile.upToPx) : 1;
  return { ...ENCODINGS.camera, active: watched, maxBitrate: (tile ?? large).bps, scaleResolutionDownBy };
}

// Of several encodings (simulcast), each has half the width of the next larger one. Chromium sends so many of a track so
// wide, and only the first of those that there are.
const COUNTS = [{ fromPx: 960, count: 3 }, { fromPx: 480, count: 2 }, { fromPx: 0, count: 1 }];
const RIDS = ["q", "h", "f"];
const SHARES = [1, 3 / 8, 1 / 8]; // Of the rate that the largest has.
const LEAST_WIDTH_PX = 160; // Narrower ones show nothing.

/**
 * One of the encodings that the service has asked for by name, where `whole` is what a single one would be; `width` is the track's, 0 = unknown.
 * @param {RTCRtpEncodingParameters} whole @param {string | undefined} rid @param {number} width @returns {RTCRtpEncodingParameters}
 */
export function oneOfSeveral(whole, rid, width) {
  const { scaleResolutionDownBy, maxBitrate, active } = whole;
  if (!rid || scaleResolutionDownBy === undefined) return whole;
  const { count } = /** @type {typeof COUNTS[0]} */ (COUNTS.find(({ fromPx }) => (width || Infinity) >= fromPx));
  const halvings = count - 1 - RIDS.indexOf(rid);
  if (halvings < 0) return { ...whole, active: false };
  const scaled = scaleResolutionDownBy * 2 ** halvings;
  const isWideEnough = halvings === 0 || !width || width / scaled >= LEAST_WIDTH_PX;
  return { ...whole, active: active && isWideEnough, scaleResolutionDownBy: scaled, ...(maxBitrate && { maxBitrate: Math.round(maxBitrate * SHARES[halvings]) }) };
}

/** Does what was wanted before suffice for what is wanted now? @param {Wanted} before @param {Wanted} now */
export const suffices = (before, now) => !now.watched || (before.watched && (before.width || Infinity) >= (now.width || Infinity));
