// Zooms into a shared screen. The wheel, two fingers, or the + and − keys zoom. Dragging or the arrow keys
// move the view, and 0 resets it. The calculations need no DOM and are tested in Node.

/** @import { ComponentChildren, RefObject } from "../../vendor/preact.js" */
/**
 * @typedef {{x: number, y: number}} Point Measured from the centre of the frame, as fractions of its width
 *   and height.
 * @typedef {Point & {scale: number}} View
 */

import { html, useEffect, useRef, useState } from "../../vendor/preact.js";
import { t } from "../../words/words.js";

/** @type {View} */
export const WHOLE = { scale: 1, x: 0, y: 0 };
const MAX_SCALE = 8;
const STEP = 1.25;
const WHEEL_PX = 400; // The wheel distance that zooms by a factor of e.
const PAN = 0.1; // An arrow key moves the view by this fraction of the frame.

/**
 * Clamp the view so that it always fills the frame. `x` and `y` are the offsets of its centre, as fractions
 * of the frame's width and height.
 * @param {View} view
 * @returns {View}
 */
function within({ scale, x, y }) {
  const far = (scale - 1) / 2;
  const held = (/** @type {number} */ shift) => Math.min(far, Math.max(-far, shift)) + 0; // Avoid -0.
  return { scale, x: held(x), y: held(y) };
}

/**
 * Zoom by `factor` around the point `at`, which stays in place.
 * @param {View} view
 * @param {number} factor
 * @param {Point} [at]
 */
export function zoomed(view, factor, at = { x: 0, y: 0 }) {
  const scale = Math.min(MAX_SCALE, Math.max(1, view.scale * factor));
  const grown = scale / view.scale;
  return within({ scale, x: at.x - (at.x - view.x) * grown, y: at.y - (at.y - view.y) * grown });
}

/** Move the view by fractions of the frame. @param {View} view @param {number} x @param {number} y */
export const moved = (view, x, y) => within({ ...view, x: view.x + x, y: view.y + y });

/**
 * Return the view after this key, or null if the key has no effect.
 * @param {View} view
 * @param {string} key
 */
export function keyed(view, key) {
  /** @type {{[key: string]: [number, number]}} */
  const arrows = { ArrowLeft: [PAN, 0], ArrowRight: [-PAN, 0], ArrowUp: [0, PAN], ArrowDown: [0, -PAN] };
  if (key === "+" || key === "=") return zoomed(view, STEP);
  if (key === "-") return zoomed(view, 1 / STEP);
  if (key === "0") return WHOLE;
  return key in arrows && view.scale > 1 ? moved(view, ...arrows[key]) : null;
}

/**
 * Pan and zoom the view as one or two fingers move from `before` to `now`.
 * @param {View} view
 * @param {Point[]} before
 * @param {Point[]} now
 */
export function dragged(view, before, now) {
  const middle = (/** @type {Point[]} */ points) => ({
    x: points.reduce((sum, { x }) => sum + x, 0) / points.length,
    y: points.reduce((sum, { y }) => sum + y, 0) / points.length,
  });
  const apart = (/** @type {Point[]} */ [a, b]) => Math.hypot(a.x - b.x, a.y - b.y);
  const [from, to] = [middle(before), middle(now)];
  const shifted = moved(view, to.x - from.x, to.y - from.y);
  return now.length > 1 && apart(before) > 0 ? zoomed(shifted, apart(now) / apart(before), to) : shifted;
}

/**
 * A frame whose children the user can zoom.
 * @param {{label: string, children: ComponentChildren}} props
 */
export function Zoomable({ label, children }) {
  /** @type {RefObject<HTMLElement>} */
  const frame = useRef(null);
  const fingers = useRef(/** @type {Map<number, Point>} */ (new Map()));
  const [view, setView] = useState(WHOLE);
  const at = (/** @type {MouseEvent} */ { clientX, clientY }) => {
    const { left, top, width, height } = frame.current.getBoundingClientRect();
    return { x: (clientX - left) / width - 0.5, y: (clientY - top) / height - 0.5 };
  };
  useEffect(() => {
    // Added by hand, because only a non-passive listener can prevent the browser from zooming the page.
    const turned = (/** @type {WheelEvent} */ event) => {
      event.preventDefault();
      const factor = Math.exp(-event.deltaY / (event.ctrlKey ? WHEEL_PX / 4 : WHEEL_PX));
      setView((before) => zoomed(before, factor, at(event)));
    };
    frame.current.addEventListener("wheel", turned, { passive: false });
    return () => frame.current?.removeEventListener("wheel", turned);
  }, []);
  const down = (/** @type {PointerEvent} */ event) => {
    if (event.button) return;
    fingers.current.set(event.pointerId, at(event));
    if (view.scale > 1 || fingers.current.size > 1) frame.current.setPointerCapture(event.pointerId);
  };
  const move = (/** @type {PointerEvent} */ event) => {
    if (!fingers.current.has(event.pointerId)) return;
    const before = [...fingers.current.values()];
    fingers.current.set(event.pointerId, at(event));
    const now = [...fingers.current.values()];
    setView((old) => dragged(old, before.slice(0, 2), now.slice(0, 2)));
  };
  const up = (/** @type {PointerEvent} */ { pointerId }) => fingers.current.delete(pointerId);
  const key = (/** @type {KeyboardEvent} */ event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target !== frame.current) return;
    const next = keyed(view, event.key);
    if (!next) return;
    event.preventDefault();
    setView(next);
  };
  const { scale, x, y } = view;
  return html`
    <div
      class=${`zoomable ${scale > 1 ? "close" : ""}`}
      ref=${frame}
      tabindex="0"
      role="group"
      aria-label=${t("zoom-label", { name: label })}
      onPointerDown=${down}
      onPointerMove=${move}
      onPointerUp=${up}
      onPointerCancel=${up}
      onKeyDown=${key}
    >
      <div class="zoomed" style=${{ transform: `translate(${x * 100}%, ${y * 100}%) scale(${scale})` }}>
        ${children}
      </div>
    </div>
    ${
      scale > 1 &&
      html`<button type="button" class="unzoom" onClick=${() => setView(WHOLE)}>
        ${t("zoom-reset", { percent: Math.round(scale * 100) })}
      </button>`
    }
  `;
}
