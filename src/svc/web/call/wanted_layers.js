// Decides which layers of a received video to request, based on its tile and the settings. Contains only pure
// functions.

/** @import { LayerRequest } from "./session.js" */
/**
 * How a video is shown. `width` is its tile's width in device pixels, or 0 if it is unknown. `large` tiles
 * are in focus, and `chosen` ones belong to a speaker or are pinned.
 * @typedef {{source: string, width: number, hidden: boolean, large: boolean, chosen: boolean}} Shown
 */

import { TILES } from "./encodings.js";

const ALL = -1;
/** The highest temporal layer for each choice in the settings. @type {{[choice: string]: number}} */
const TEMPORAL = { high: ALL, automatic: ALL, low: 1, saver: 0 };
// The highest temporal layers on a metered connection: half of the frames of a camera, or of text on a
// screen. Cameras are also smaller unless they are in focus. A screen keeps its size, so its text stays
// legible.
const SPARING_TEMPORAL = { camera: 1, screen: 0 };
// Videos with a higher priority keep their quality longer when the downlink is too slow for everything. The
// SFU never reduces audio quality.
const PRIORITY = { screen: 90, chosen: 70, large: 50, small: 30 };

/**
 * Return the request for a video. `choice` is the setting for everybody or for this member. "high" keeps
 * every frame even if the downlink is too slow. `lessData` is set on a metered connection.
 * @param {Shown} shown
 * @param {{choice: string, lessData: boolean}} settings
 * @returns {LayerRequest}
 */
export function wantedLayers({ source, width, hidden, large, chosen }, { choice, lessData }) {
  const isScreen = source === "screen";
  let temporal = TEMPORAL[choice] ?? ALL;
  if (lessData) {
    const limit = SPARING_TEMPORAL[isScreen ? "screen" : "camera"];
    temporal = temporal === ALL ? limit : Math.min(temporal, limit);
    if (!isScreen) width = Math.min(width || Infinity, TILES[large ? 1 : 0].upToPx);
  }
  const rank = isScreen ? "screen" : chosen ? "chosen" : large ? "large" : "small";
  return {
    max_temporal_layer: temporal,
    // The encodings are as wide as these tiles, except that the largest is as wide as the camera's video.
    max_spatial_layer: isScreen ? ALL : TILES.findIndex(({ upToPx }) => width > 0 && width <= upToPx),
    width,
    paused: hidden,
    priority: PRIORITY[rank],
    adaptive: choice !== "high",
  };
}
