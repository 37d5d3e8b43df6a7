// Detect that nobody has touched the page for a while. A member in a call is never idle.

import { callState } from "../../call/current_call.js";
import { idle } from "../../state/idle.js";

const AFTER_MS = 10 * 60_000;
const TOUCHES = ["keydown", "pointerdown", "pointermove", "wheel", "touchmove"];

export function watchTouches(afterMs = AFTER_MS, now = () => performance.now()) {
  let last = now();
  const wait = (/** @type {number} */ ms) => setTimeout(look, ms);
  const look = () => {
    if (callState.peek() !== "none") last = now();
    const leftMs = last + afterMs - now();
    if (leftMs > 0) wait(leftMs);
    else idle.value = true;
  };
  const touched = () => {
    last = now();
    if (!idle.peek()) return;
    idle.value = false;
    wait(afterMs);
  };
  for (const touch of TOUCHES) addEventListener(touch, touched, { capture: true, passive: true });
  wait(afterMs);
}
