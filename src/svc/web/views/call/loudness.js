// Shows how loudly a member is speaking, as the opacity of the ring around their tile.

/** @import { RefObject } from "../../vendor/preact.js" */

import { ownLevel, tracks } from "../../call/current_call.js";
import { appearance } from "../../state/appearance.js";
import { member } from "../../state/server.js";
import { useEffect } from "../../vendor/preact.js";

const EVERY_MS = 100;
// The level that counts as full loudness. Audio levels are linear, and a quiet voice is about 0.02.
const LOUD = 0.25;

const isStill = () =>
  appearance.peek().motion === "reduced" || matchMedia("(prefers-reduced-motion: reduce)").matches;

/** @param {string} userId */
function levelOf(userId) {
  if (userId === member.peek()?.id) return ownLevel();
  const mic = tracks.peek().find((track) => track.userId === userId && track.source === "mic");
  const level = mic?.receiver.getSynchronizationSources()[0]?.audioLevel ?? 0;
  return Math.min(1, Math.sqrt(level / LOUD));
}

/**
 * While the member is speaking, set the element's opacity to their loudness, 0 to 1. The element must be
 * empty. Changing a custom property of the tile instead would recompute the styles of all elements in it ten
 * times a second.
 * @param {RefObject<HTMLElement>} element
 * @param {string} userId
 * @param {boolean} speaking
 */
export function useLoudness(element, userId, speaking) {
  useEffect(() => {
    if (!speaking || isStill()) return undefined;
    const show = () => element.current?.style.setProperty("opacity", levelOf(userId).toFixed(2));
    const timer = setInterval(show, EVERY_MS);
    return () => {
      clearInterval(timer);
      element.current?.style.removeProperty("opacity");
    };
  }, [userId, speaking]);
}
