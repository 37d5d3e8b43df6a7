// Tests that stored values are read with the expected types, and that browsers without storage are supported.

import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import {
  eachLike,
  withLock,
  storeValue,
  storedText,
  storedValue,
  like,
} from "../../src/svc/web/transport/browser_storage.js";

const DEFAULTS = { theme: "system", size: 100, sounds: { join: true, leave: true }, recent: [], proof: null };
const FULL = new DOMException("The quota has been exceeded.", "QuotaExceededError");

/** Return storage that contains `before`. It rejects writes if `takes` is false. */
function storage(before = {}, takes = true) {
  const all = new Map(Object.entries(before));
  return {
    getItem: (name) => all.get(name) ?? null,
    setItem(name, text) {
      if (!takes) throw FULL;
      all.set(name, text);
    },
    removeItem: (name) => all.delete(name),
  };
}

const forbid = () =>
  Object.defineProperty(globalThis, "localStorage", {
    configurable: true,
    get() {
      throw new DOMException("", "SecurityError");
    },
  });
const lend = (value) => Object.defineProperty(globalThis, "localStorage", { configurable: true, value });

beforeEach(() => lend(storage()));

test("stored values are read back", () => {
  storeValue("a", { ...DEFAULTS, size: 150, recent: ["x"] });
  assert.deepEqual(storedValue(DEFAULTS, "a"), { ...DEFAULTS, size: 150, recent: ["x"] });
  storeValue("b", "1");
  assert.equal(storedText("b"), "1");
  storeValue("b", null);
  assert.equal(storedText("b"), null);
});

test("invalid parts of a stored value are replaced by their defaults", () => {
  for (const spoilt of [
    "",
    "{",
    "null",
    "5",
    '"text"',
    "[]",
    "[1]",
    "true",
    "undefined",
    "\0",
    '{"size"',
    "NaN",
  ]) {
    lend(storage({ a: spoilt }));
    assert.deepEqual(storedValue(DEFAULTS, "a"), DEFAULTS, spoilt);
  }
  const found = {
    theme: 5,
    size: "big",
    sounds: { join: false, leave: null, other: 1 },
    recent: ["x", 5, null],
    proof: { way: 1 },
    more: 1,
  };
  lend(storage({ a: JSON.stringify(found) }));
  assert.deepEqual(storedValue(DEFAULTS, "a"), {
    ...DEFAULTS,
    sounds: { join: false, leave: true },
    recent: ["x"],
    proof: { way: 1 },
  });
  lend(storage({ a: '{"__proto__": {"size": 5}, "size": 3}' }));
  assert.equal(storedValue(DEFAULTS, "a").size, 3);
});

test("an empty object as the default accepts any object, and each of its values can be checked", () => {
  assert.deepEqual(like({}, { a: 1 }), { a: 1 });
  assert.deepEqual(like({}, [1]), {});
  assert.deepEqual(eachLike({ text: "" }, { a: { text: "x", more: 1 }, b: 5, c: null }), {
    a: { text: "x" },
    b: { text: "" },
    c: { text: "" },
  });
});

test("values for which the browser has no space are kept until the page is closed", () => {
  lend(storage({ full: "before" }, false));
  storeValue("full", "after");
  assert.equal(storedText("full"), "after");
  storeValue("full", null);
  assert.equal(storedText("full"), null);
});

test("values are kept in memory in a browser that blocks storage", async () => {
  forbid();
  assert.equal(storedText("forbidden"), null);
  storeValue("forbidden", { size: 5 });
  assert.deepEqual(storedValue({ size: 0 }, "forbidden"), { size: 5 });
});

test("tasks run and report their errors even without the browser's locks", async () => {
  for (const locks of [
    undefined,
    { request: () => Promise.reject(new DOMException("", "SecurityError")) },
    { request: (name, _options, begin) => begin({ name }) },
  ]) {
    Object.defineProperty(globalThis, "navigator", { configurable: true, value: { locks } });
    assert.equal(await withLock("x", async (lock) => lock.name), "x");
    await assert.rejects(
      withLock("x", async () => {
        throw new Error("ours");
      }),
      /ours/u,
    );
  }
});
