// The filters of a search are completed: names with spaces stand in quotation marks.
import assert from "node:assert/strict";
import { test } from "node:test";

import { begun, completed, extended, values } from "../../src/svc/web/state/search_filters.js";

const sources = { members: [{ nickname: "Grace Hopper" }, { nickname: "Ada" }], channels: [{ name: "general" }, { name: "garden club" }] };
const offered = (query) => {
  const asked = begun(query);
  return asked && values(asked, sources);
};

test("a filter is completed only at the end and only while its value is not whole", () => {
  assert.equal(begun("from:Ada tea"), null);
  assert.equal(begun("tea "), null);
  assert.equal(begun("where from: "), null);
  assert.equal(begun('in:"garden club"'), null);
  assert.deepEqual(begun("tea from:gr"), { filter: "from", wanted: "gr", start: 9 });
});

test("people, channels and kinds are offered, excluded ones too", () => {
  assert.deepEqual(offered("from:"), ["Ada", "Grace Hopper"]);
  assert.deepEqual(offered("from:hop"), ["Grace Hopper"]);
  assert.deepEqual(offered("-in:ga"), ["garden club"]);
  assert.deepEqual(offered('in:"garden c'), ["garden club"]);
  assert.deepEqual(offered("has:im"), ["image"]);
  assert.deepEqual(offered("before:"), []);
});

test("what is chosen takes the place of what was written", () => {
  assert.equal(completed("tea from:gr", begun("tea from:gr"), "Grace Hopper"), 'tea from:"Grace Hopper" ');
  assert.equal(completed('in:"gen', begun('in:"gen'), "general"), "in:general ");
  assert.equal(extended("tea ", "has:"), "tea has:");
  assert.equal(extended("", "has:"), "has:");
});
