// Decide what to request of a received video, by its tile and the person's settings. Sans I/O.

/** @import { Wish } from "./session.js" */
/**
 * How a video is shown. `width` is that of its tile in device pixels, or 0 if it is unknown. `large` tiles
 * are in focus, and `chosen` ones belong to a speaker or are pinned.
 * @typedef {{source: string, width: number, hidden: boolean, large: boolean, chosen: boolean}} Shown
 */

import { TILES } from "./encodings.js";

const ALL = -1;
/** The highest temporal layer for each of the person's choices. @type {{[choice: string]: number}} */
const TEMPORAL = { high: ALL, automatic: ALL, low: 1, saver: 0 };
// On a metered line: every second picture, and small ones unless they are in focus. A screen keeps its size,
// so that its text can be read.
const SPARING_TEMPORAL = { camera: 1, screen: 0 };
// Pictures with a higher priority keep their quality longer when the line carries less. The service never
// lowers sound.
const PRIORITY = { screen: 90, chosen: 70, large: 50, small: 30 };

/**
 * Return the request for a video. `choice` is the person's, for everybody or for this member: "high" keeps
 * every picture even on a line that is too narrow. `lessData` is set on a metered line.
 * @param {Shown} shown
 * @param {{choice: string, lessData: boolean}} settings
 * @returns {Wish}
 */
export function wantedLayers({ source, width, hidden, large, chosen }, { choice, lessData }) {
  const isScreen = source === "screen";
  let temporal = TEMPORAL[choice] ?? ALL;
  if (lessData) {
    const most = SPARING_TEMPORAL[isScreen ? "screen" : "camera"];
    temporal = temporal === ALL ? most : Math.min(temporal, most);
    if (!isScreen) width = Math.min(width || Infinity, TILES[large ? 1 : 0].upToPx);
  }
  const rank = isScreen ? "screen" : chosen ? "chosen" : large ? "large" : "small";
  return {
    max_temporal_layer: temporal,
    // Encodings are as wide as these tiles, the largest as wide as the camera.
    max_spatial_layer: isScreen ? ALL : TILES.findIndex(({ upToPx }) => width > 0 && width <= upToPx),
    width,
    paused: hidden,
    priority: PRIORITY[rank],
    adaptive: choice !== "high",
  };
}
