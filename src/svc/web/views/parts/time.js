// Formats times in the user's time zone and language.

import { html } from "../../vendor/preact.js";
import { language, t } from "../../words/words.js";

const DAY_MS = 86_400_000;
/** @type {Intl.DateTimeFormatOptions} */
const CLOCK = { hour: "numeric", minute: "2-digit" };
/** @type {Map<string, Intl.DateTimeFormat>} */
const formats = new Map();

/** @param {Intl.DateTimeFormatOptions} options */
function format(options) {
  const key = JSON.stringify(options);
  const known = formats.get(key);
  if (known) return known;
  const made = new Intl.DateTimeFormat(language(), options);
  formats.set(key, made);
  return made;
}

/** @type {{[style: string]: Intl.DateTimeFormatOptions}} */
const STYLES = {
  clock: CLOCK,
  day: { dateStyle: "medium" },
  long: { dateStyle: "medium", timeStyle: "short" },
};
/** @type {[unit: Intl.RelativeTimeFormatUnit, ms: number][]} */
const UNITS = [
  ["year", 365 * DAY_MS],
  ["month", 30 * DAY_MS],
  ["day", DAY_MS],
  ["hour", 3_600_000],
  ["minute", 60_000],
  ["second", 1000],
];

/**
 * "clock" is the time of day, "day" is the day, "long" is both, "ago" is both with the words "today" and
 * "yesterday" where possible, and "distance" is relative, as in "in 3 days".
 * @typedef {"clock" | "day" | "long" | "ago" | "distance"} Style
 */

/** A time, with the full time as a tooltip. @param {{ms: number, style?: Style}} props */
export function Time({ ms, style = "clock" }) {
  return html`<time
    datetime=${new Date(ms).toISOString()}
    onMouseEnter=${(/** @type {EventOn} */ event) => {
      event.currentTarget.title = wholeOf(ms);
    }}
  >
    ${timeAs(style, ms)}
  </time>`;
}

/** @param {Style} style @param {number} ms @param {number} [now] */
export function timeAs(style, ms, now = Date.now()) {
  if (style === "distance") return distanceOf(ms - now);
  const isRecent = style === "ago" && (sameDay(ms, now) || sameDay(ms, now - DAY_MS));
  return isRecent ? formatAgo(ms, now) : format(STYLES[style] ?? STYLES.long).format(ms);
}

/** @param {number} ahead in ms */
function distanceOf(ahead) {
  const [unit, length] = UNITS.find((unit) => Math.abs(ahead) >= unit[1]) ?? UNITS[UNITS.length - 1];
  return new Intl.RelativeTimeFormat(language(), { numeric: "auto" }).format(
    Math.trunc(ahead / length),
    unit,
  );
}

const wholeOf = (/** @type {number} */ ms) => format({ dateStyle: "full", timeStyle: "medium" }).format(ms);

/** Format the day of a time. @param {number} ms @param {number} [now] */
export function dayOf(ms, now = Date.now()) {
  if (sameDay(ms, now)) return t("today");
  if (sameDay(ms, now - DAY_MS)) return t("yesterday");
  return format({ weekday: "long", year: "numeric", month: "long", day: "numeric" }).format(ms);
}

/** @param {number} ms */
export const dateOf = (ms) => format({ dateStyle: "medium" }).format(ms);

/**
 * Format a time as "15:30" if it is today, otherwise as "Tue 15:30".
 * @param {number} ms
 * @param {number} [now]
 */
export function formatMoment(ms, now = Date.now()) {
  return format({ ...CLOCK, ...(!sameDay(ms, now) && { weekday: "short" }) }).format(ms);
}

/** Format a time as "Today, 15:30". @param {number} ms @param {number} [now] */
export const formatAgo = (ms, now = Date.now()) => `${dayOf(ms, now)}, ${format(CLOCK).format(ms)}`;

/** Format a day in the user's time zone for the browser's date picker, as "2026-01-31". @param {number} ms */
export function dayName(ms) {
  const day = new Date(ms);
  return [day.getFullYear(), day.getMonth() + 1, day.getDate()]
    .map((part, index) => String(part).padStart(index ? 2 : 4, "0"))
    .join("-");
}

/**
 * Return the start of this day in the user's time zone, in ms since 1970, or null if `name` is not a day.
 * @param {string} name
 */
export function beginningOf(name) {
  const [year, month, day] = (/^(\d{4,6})-(\d{2})-(\d{2})$/u.exec(name) ?? []).slice(1).map(Number);
  const begins = new Date(year, month - 1, day).getTime();
  return Number.isNaN(begins) ? null : begins;
}

/**
 * Return the start of the day of a time, and the start of the next day, in the user's time zone.
 * @param {number} ms
 * @returns {[number, number]}
 */
export function dayAround(ms) {
  const day = new Date(ms);
  return [day.setHours(0, 0, 0, 0), day.setDate(day.getDate() + 1)];
}

/** @param {number} a @param {number} b */
export function sameDay(a, b) {
  return new Date(a).toDateString() === new Date(b).toDateString();
}

/** Format a duration. @param {number} seconds */
export function formatDuration(seconds) {
  if (!seconds) return t("lasting-none");
  for (const [unit, length] of /** @type {const} */ ([
    ["days", 86400],
    ["hours", 3600],
    ["minutes", 60],
  ]))
    if (seconds % length === 0) return t(`lasting-${unit}`, { count: seconds / length });
  return t("lasting-seconds", { count: seconds });
}
