// Moments in the reader's own time zone and manner.

import { html } from "../../vendor/preact.js";
import { language, t } from "../../words/words.js";

const DAY_MS = 86_400_000;
const formats = new Map();

function format(options) {
  const key = JSON.stringify(options);
  if (!formats.has(key)) formats.set(key, new Intl.DateTimeFormat(language(), options));
  return formats.get(key);
}

/** `style`: "clock" for the time of day, "day", or "long" for both; the whole of it on hovering. */
export function Time({ ms, style = "clock" }) {
  const options = style === "clock" ? { hour: "2-digit", minute: "2-digit" } : style === "day" ? { dateStyle: "medium" } : { dateStyle: "medium", timeStyle: "short" };
  const whole = format({ dateStyle: "full", timeStyle: "medium" }).format(ms);
  return html`<time datetime=${new Date(ms).toISOString()} title=${whole}>${format(options).format(ms)}</time>`;
}

/** The day in words. */
export function dayOf(ms, now = Date.now()) {
  if (sameDay(ms, now)) return t("today");
  if (sameDay(ms, now - DAY_MS)) return t("yesterday");
  return format({ weekday: "long", year: "numeric", month: "long", day: "numeric" }).format(ms);
}

export const dateOf = (ms) => format({ dateStyle: "medium" }).format(ms);

/** "15:30", and with the day where it is another: "Tue 15:30". */
export function momentOf(ms, now = Date.now()) {
  return format({ hour: "2-digit", minute: "2-digit", ...(!sameDay(ms, now) && { weekday: "short" }) }).format(ms);
}

/** Day and time: "Today, 15:30". */
export const agoOf = (ms, now = Date.now()) => `${dayOf(ms, now)}, ${format({ hour: "2-digit", minute: "2-digit" }).format(ms)}`;

export function sameDay(one, other) {
  return new Date(one).toDateString() === new Date(other).toDateString();
}
