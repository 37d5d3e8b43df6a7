// Computes the sizes of the tiles in a call: as large as the space allows, with an aspect ratio that suits a
// face. Contains only pure functions.

export const GAP_PX = 8;
const NARROWEST_PX = 150;
const CAMERA = 16 / 9;
const ENLARGED = 1.15; // Upscaling a video by this factor is not noticeable.
// The narrowest aspect ratios for cameras. A tile may crop the sides of the video. Otherwise, two columns
// could not fill a phone's screen in portrait mode.
const NARROWEST = { lying: 6 / 5, upright: 9 / 16 };
const TWO_COLUMNS_FROM = 3; // On a phone, two tiles are larger when stacked.

/**
 * `end` is the width of the last tile. On a phone in portrait mode, a tile that is alone in the last row
 * fills the row.
 * @typedef {{width: number, height: number, end: number}} Tiles
 */

/**
 * Return the size of `count` equal tiles in this space. If the tiles would be too small, they fill the width
 * and the list scrolls. `isScreen` means that the tiles show screens. Screens are never cropped, so their
 * tiles can have any aspect ratio.
 * @param {number} count @param {number} width @param {number} height @param {boolean} [isScreen]
 * @returns {Tiles}
 */
export function tileSizes(count, width, height, isScreen = false) {
  const isUpright = !isScreen && height > width && width >= 2 * NARROWEST_PX + GAP_PX;
  const [narrowest, widest] = isScreen
    ? [0, Infinity]
    : [isUpright ? NARROWEST.upright : NARROWEST.lying, CAMERA];
  const minColumns = isUpright && count >= TWO_COLUMNS_FROM ? 2 : 1;
  let best = { width: 0, height: 0, end: 0 };
  // For a screen, count only the area of the video, without the bars next to it.
  const seen = (/** @type {{width: number, height: number}} */ tile) =>
    isScreen ? Math.min(tile.width, tile.height * CAMERA) : tile.width * tile.height;
  for (let columns = minColumns; columns <= Math.max(count, minColumns); columns++) {
    const rows = Math.ceil(count / columns);
    const cell = {
      width: (width - GAP_PX * (columns - 1)) / columns,
      height: (height - GAP_PX * (rows - 1)) / rows,
    };
    const tile = {
      width: Math.floor(Math.min(cell.width, cell.height * widest)),
      height: Math.floor(Math.min(cell.height, cell.width / narrowest)),
    };
    if (tile.width < NARROWEST_PX || seen(tile) <= seen(best)) continue;
    const isAlone = isUpright && count > 1 && count % columns === 1;
    best = { ...tile, end: isAlone ? Math.floor(Math.min(width, tile.height * CAMERA)) : tile.width };
  }
  if (best.width && best.height >= NARROWEST_PX / CAMERA) return best;
  const columns = Math.max(1, Math.floor((width + GAP_PX) / (NARROWEST_PX + GAP_PX)));
  const px = Math.floor((width - GAP_PX * (columns - 1)) / columns);
  return { width: px, height: Math.floor(px / CAMERA), end: px };
}

/**
 * Return the camera width to request for a tile of this size. The tile may crop the sides of the video. The
 * next larger encoding needs almost three times the bandwidth, so a video that is slightly too small is
 * upscaled instead.
 * @param {{width: number, height: number}} tile
 */
export const pictureWidth = ({ width, height }) => Math.max(width, Math.ceil((height * CAMERA) / ENLARGED));
