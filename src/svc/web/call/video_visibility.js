// Monitors the width of each displayed video. The width is 0 if the element is scrolled out of view or is in
// a background tab.

/** @import { Signal } from "../vendor/signals.js" */

import { pictureWidth } from "../state/tile_layout.js";
import { signal } from "../vendor/signals.js";

const IN_PICTURE_PX = 480; // Assumed, because the size of a picture-in-picture window is unknown.

/**
 * The displayed width of each track, in device pixels. Tracks that are not displayed are omitted.
 * @type {Signal<Map<MediaStreamTrack, number>>}
 */
export const widths = signal(new Map());
/** @type {Map<HTMLVideoElement, {track: MediaStreamTrack, px: number}>} */
const shown = new Map();

/**
 * Monitor the displayed width of this element's track. Return a function that stops monitoring it.
 * @param {HTMLVideoElement} video
 * @param {MediaStreamTrack} track
 */
export function watchWidth(video, track) {
  const page = video.ownerDocument;
  const view = /** @type {Window & typeof globalThis} */ (page.defaultView);
  let intersects = true;
  const measure = () => {
    const large = page.pictureInPictureElement === video ? IN_PICTURE_PX : 0;
    const seen = intersects && page.visibilityState === "visible";
    // If the tile crops the sides of a video, the uncropped video is wider than the tile.
    const isCut = view.getComputedStyle(video).objectFit === "cover";
    const { clientWidth: width, clientHeight: height } = video;
    const px = isCut && width ? pictureWidth({ width, height }) : width;
    note(video, track, Math.max(large, seen ? Math.ceil(px * view.devicePixelRatio) : 0));
  };
  const resizes = new view.ResizeObserver(measure);
  const crossings = new view.IntersectionObserver((entries) => {
    intersects = entries[entries.length - 1].isIntersecting;
    measure();
  });
  const events = /** @type {const} */ (["enterpictureinpicture", "leavepictureinpicture"]);
  for (const observer of [resizes, crossings]) observer.observe(video);
  for (const event of events) video.addEventListener(event, measure);
  page.addEventListener("visibilitychange", measure);
  measure();
  return () => {
    for (const observer of [resizes, crossings]) observer.disconnect();
    for (const event of events) video.removeEventListener(event, measure);
    page.removeEventListener("visibilitychange", measure);
    shown.delete(video);
    publishWidths();
  };
}

/** @param {HTMLVideoElement} video @param {MediaStreamTrack} track @param {number} px */
function note(video, track, px) {
  const before = shown.get(video);
  if (before?.track === track && before.px === px) return;
  shown.set(video, { track, px });
  publishWidths();
}

function publishWidths() {
  const all = new Map();
  for (const { track, px } of shown.values()) if (px) all.set(track, Math.max(px, all.get(track) ?? 0));
  widths.value = all;
}
