// Tests that requests time out if the server never responds, and wait if it limits their rate.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { mock, test } from "node:test";
import { request } from "../../src/svc/web/transport/http.js";

test("a server that never responds counts as unreachable after a minute", async () => {
  const silent = createServer(() => {});
  silent.listen(0, "127.0.0.1");
  await once(silent, "listening");
  mock.timers.enable({ apis: ["setTimeout"] });
  const pending = request("GET", `http://127.0.0.1:${silent.address().port}/api/me`);
  pending.catch(() => {});
  await once(silent, "request");
  mock.timers.tick(59_000);
  assert.equal(await Promise.race([pending, Promise.resolve("waiting")]), "waiting");
  mock.timers.tick(1000);
  await assert.rejects(pending, { code: "unreachable" });
  mock.timers.reset();
  silent.closeAllConnections();
  silent.close();
});

test("a rate-limited request waits as long as the server states, repeatedly but not forever", async () => {
  let refusals = 0;
  const strict = createServer((_, response) => {
    response.writeHead(refusals-- > 0 ? 429 : 200, { "Content-Type": "application/json" });
    response.end(
      JSON.stringify({ error: "rate_limited", message: "Too many requests", retry_after_ms: 1000 }),
    );
  });
  strict.listen(0, "127.0.0.1");
  await once(strict, "listening");
  const address = `http://127.0.0.1:${strict.address().port}/api/me`;
  const real = setTimeout;
  const waits = mock.method(globalThis, "setTimeout", (go, ms) => real(go, ms === 1000 ? 0 : ms).unref());
  refusals = 6;
  await request("GET", address);
  refusals = 7;
  await assert.rejects(request("GET", address), { code: "rate_limited" });
  waits.mock.restore();
  strict.closeAllConnections();
  strict.close();
});
