// The countdown until the next message in a slow-mode channel.

import { secondsLeft } from "../../state/slow_mode.js";
import { html, useEffect, useState } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { lasting } from "../parts/time.js";

/** @param {{channelId: string}} props */
export function SlowLeft({ channelId }) {
  const [, again] = useState(0);
  const left = secondsLeft(channelId);
  useEffect(() => {
    if (!left) return undefined;
    const timer = setInterval(() => again((count) => count + 1), 1000);
    return () => clearInterval(timer);
  }, [left > 0]);
  return (
    left > 0 &&
    html`<span class="left quiet" role="timer" title=${slowWords(left)}>
      <span aria-hidden="true">${clock(left)}</span>
      <span class="unseen">${slowWords(left)}</span>
    </span>`
  );
}

/**
 * Explain why a message has to wait. From the second minute on, whole minutes are enough.
 * @param {number} left
 */
export const slowWords = (left) =>
  t("slow-mode-left", { time: lasting(left > 60 ? Math.ceil(left / 60) * 60 : left) });

/** "0:05", "1:02:03". @param {number} seconds */
function clock(seconds) {
  const two = (/** @type {number} */ number) => String(number).padStart(2, "0");
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  return hours ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}
