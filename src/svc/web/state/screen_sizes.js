// The sizes, frame rates, and bit rates at which a screen can be shared. Sans I/O.

/**
 * `key` is stored in the call settings. A screen is never enlarged, so its own size is also a limit.
 * @typedef {{key: string, height: number, fps: number, bps: number}} ScreenSize
 */

/**
 * In ascending order. Most computers' encoders cannot process more pixels per second than 1440p60 requires.
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
const WIDEST = 2.4; // The widest screens have an aspect ratio of 43:18.
const AUTOMATIC_FPS = { text: 15, motion: 60 };

/** Return the chosen size; undefined for the automatic one. @param {{screenSize: string}} settings */
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
