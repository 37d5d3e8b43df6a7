// Moments in the reader's own time zone and manner. Knows no messages.

const CLOCK = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const DAY = new Intl.DateTimeFormat(undefined, { weekday: "long", year: "numeric", month: "long", day: "numeric" });
const WHOLE = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "medium" });
const SHORT = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

/** The time of day; the whole of it on hovering. */
export function clock(ms) {
  return shown(new Date(ms), CLOCK);
}

/** Day and time of a Date. */
export function moment(date) {
  return shown(date, SHORT);
}

/** The day in words. */
export function day(ms, now = Date.now()) {
  if (sameDay(ms, now)) return "Today";
  const yesterday = new Date(now);
  yesterday.setDate(yesterday.getDate() - 1);
  return sameDay(ms, yesterday.getTime()) ? "Yesterday" : DAY.format(ms);
}

export function sameDay(one, other) {
  return new Date(one).toDateString() === new Date(other).toDateString();
}

function shown(date, format) {
  const element = document.createElement("time");
  element.dateTime = date.toISOString();
  element.title = WHOLE.format(date);
  element.textContent = format.format(date);
  return element;
}
