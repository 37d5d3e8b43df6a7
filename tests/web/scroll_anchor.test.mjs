// Tests that a message list keeps the newest message in view only while it is scrolled to its end.

import assert from "node:assert/strict";
import test from "node:test";
import { isAtEnd, isNearEnd, isNearStart, ScrollAnchor } from "../../src/svc/web/state/scroll_anchor.js";

const HEIGHT = 500;
const box = (scrollTop, scrollHeight, clientHeight = HEIGHT, clientWidth = 400) => ({
  scrollTop,
  scrollHeight,
  clientHeight,
  clientWidth,
});

/** Return the position in a list of 2,000 px that is scrolled to its end. */
function atEnd() {
  const position = new ScrollAnchor();
  position.put(box(1500, 2000));
  return position;
}

test("a position within 400 px of an end is near it, and one within 24 px is at it", () => {
  assert.deepEqual([isNearStart(box(399, 2000)), isNearStart(box(400, 2000))], [true, false]);
  assert.deepEqual([isNearEnd(box(1101, 2000)), isNearEnd(box(1100, 2000))], [true, false]);
  assert.deepEqual([isAtEnd(box(1477, 2000)), isAtEnd(box(1476, 2000))], [true, false]);
});

test("a list that grew before its scroll event still follows new messages", () => {
  const position = atEnd();
  position.scrolled(box(1500, 2300), false);
  assert.equal(position.isFollowing, true);
});

test("a list stops following when the user scrolls up, even before the scroll event", () => {
  const position = atEnd();
  position.note(box(1400, 2000));
  assert.equal(position.isFollowing, false);
  position.scrolled(box(1480, 2000), false);
  assert.equal(position.isFollowing, true, "back at the end");
});

test("a change of a few pixels does not count as scrolling", () => {
  const position = atEnd();
  position.note(box(1480, 2100));
  assert.equal(position.isFollowing, true);
});

test("a list still follows when its box becomes taller", () => {
  const position = atEnd();
  position.note(box(1400, 2000, 600));
  assert.equal(position.isFollowing, true);
  position.note(box(1400, 2050, 600));
  assert.equal(position.isFollowing, true);
});

test("a list still follows when its box changes its width", () => {
  const position = atEnd();
  position.note(box(800, 1700, HEIGHT, 700));
  assert.equal(position.isFollowing, true, "its text was laid out again");
  position.scrolled(box(1200, 1700, HEIGHT, 700), false);
  position.note(box(800, 1700, HEIGHT, 700));
  assert.equal(position.isFollowing, false, "the person scrolled");
});

test("the end of a partial list is not followed", () => {
  const position = atEnd();
  position.scrolled(box(1500, 2000), true);
  assert.equal(position.isFollowing, false);
});

test("a jump to the newest message starts following from any position", () => {
  const position = atEnd();
  position.note(box(100, 2000));
  assert.equal(position.isFollowing, false);
  position.follow();
  position.note(box(100, 2000));
  assert.equal(position.isFollowing, true);
});
