// A request to a server that takes it and never answers ends all the same.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { mock, test } from "node:test";
import { request } from "../../src/svc/web/transport/http.js";

test("a server that never answers cannot be reached after a minute", async () => {
  const silent = createServer(() => {});
  silent.listen(0, "127.0.0.1");
  await once(silent, "listening");
  mock.timers.enable({ apis: ["setTimeout"] });
  const asked = request("GET", `http://127.0.0.1:${silent.address().port}/api/me`);
  asked.catch(() => {});
  await once(silent, "request");
  mock.timers.tick(59_000);
  assert.equal(await Promise.race([asked, Promise.resolve("waiting")]), "waiting");
  mock.timers.tick(1000);
  await assert.rejects(asked, { code: "unreachable" });
  mock.timers.reset();
  silent.closeAllConnections();
  silent.close();
});
