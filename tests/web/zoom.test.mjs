// Tests the position of a zoomed shared screen in its frame.

import assert from "node:assert/strict";
import { test } from "node:test";

import { dragged, keyed, moved, WHOLE, zoomed } from "../../src/svc/web/views/call/zoom.js";

/**
 * Return a point's position in the frame. The point is an offset from the video's centre, as a fraction of
 * the video's size.
 */
const shown = ({ scale, x, y }, point) => ({ x: point.x * scale + x, y: point.y * scale + y });
const close = (a, b) => assert.ok(Math.hypot(a.x - b.x, a.y - b.y) < 1e-9, JSON.stringify([a, b]));

test("the point under the pointer stays in place", () => {
  const at = { x: 0.2, y: -0.3 };
  const view = zoomed(WHOLE, 2, at);
  close(shown(view, at), at);
  const further = zoomed(view, 1.5, { x: -0.1, y: 0.1 });
  const point = { x: (-0.1 - view.x) / view.scale, y: (0.1 - view.y) / view.scale };
  close(shown(further, point), { x: -0.1, y: 0.1 });
});

test("the screen never leaves a gap in its frame, and the minimum zoom shows all of it", () => {
  assert.deepEqual(moved(WHOLE, 0.4, 0.4), { scale: 1, x: 0, y: 0 });
  assert.deepEqual(zoomed(zoomed(WHOLE, 3, { x: 0.5, y: 0.5 }), 0.01), { scale: 1, x: 0, y: 0 });
  assert.deepEqual(moved(zoomed(WHOLE, 2), 9, -9), { scale: 2, x: 0.5, y: -0.5 });
  assert.equal(zoomed(WHOLE, 1000).scale, 8);
});

test("keys zoom, move and reset, and other keys do nothing", () => {
  const near = keyed(keyed(WHOLE, "+"), "=");
  assert.ok(near.scale > 1.5);
  assert.ok(keyed(near, "ArrowRight").x < near.x);
  assert.ok(keyed(near, "ArrowUp").y > near.y);
  assert.deepEqual(keyed(near, "0"), WHOLE);
  assert.ok(keyed(near, "-").scale < near.scale);
  assert.equal(keyed(WHOLE, "ArrowLeft"), null, "what is whole does not move");
  assert.equal(keyed(near, "m"), null);
});

test("spreading two fingers enlarges the area between them", () => {
  const view = dragged(
    WHOLE,
    [
      { x: -0.1, y: 0 },
      { x: 0.1, y: 0 },
    ],
    [
      { x: -0.2, y: 0 },
      { x: 0.2, y: 0 },
    ],
  );
  assert.equal(view.scale, 2);
  close(shown(view, { x: 0, y: 0 }), { x: 0, y: 0 });
  assert.equal(dragged(view, [{ x: 0, y: 0 }], [{ x: 0.1, y: 0 }]).x, 0.1);
});
