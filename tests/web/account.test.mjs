// Tests access tokens after signing out, and while renewals get no response, as when the network is down.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { afterEach, beforeEach, mock, test } from "node:test";
import { reportResponse } from "../../src/svc/web/state/private/other_devices.js";
import { Account } from "../../src/svc/web/transport/account.js";
import { Refusal } from "../../src/svc/web/transport/http.js";
import { storeValue } from "../../src/svc/web/transport/browser_storage.js";

const AGO = () => Date.now() - 1000;
const LATER = () => Date.now() + 60_000;
const fetched = globalThis.fetch;
let server, answers, account;
// Mocked once for all tests, because Node's fetch keeps state between tests.
mock.timers.enable({ apis: ["setTimeout"] });

beforeEach(async () => {
  answers = false;
  server = createServer((_, response) => {
    if (!answers) return;
    response.writeHead(200, { "Content-Type": "application/json" });
    response.end(JSON.stringify({ access_token: "new", refresh_token: "next", expires_in_ms: 900_000 }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  globalThis.fetch = (path, options) => fetched(`http://127.0.0.1:${server.address().port}${path}`, options);
});

afterEach(() => {
  server.closeAllConnections();
  server.close();
});

function cameBack(fresh_until, good_until) {
  const member = { id: "ada", nickname: "Ada", roles: [] };
  storeValue("svc.identity", {
    member,
    proof: { way: "local" },
    access_token: "old",
    refresh_token: "this",
    fresh_until,
    good_until,
  });
  account = new Account();
}

test("a valid token is used even if its renewal fails", async () => {
  cameBack(AGO(), LATER());
  const renewed = once(server, "request");
  mock.timers.tick(0);
  await renewed;
  assert.equal(await account.accessToken(), "old");
});

test("a token is renewed before it expires, even if no request needs it", async () => {
  cameBack(AGO(), LATER());
  answers = true;
  const renewed = once(account, "renewed");
  mock.timers.tick(0);
  assert.equal((await renewed)[0].detail, "new");
  assert.equal(await account.accessToken(), "new");
});

test("a request that waits for an unanswered renewal can retry after 5 s", async () => {
  cameBack(LATER(), AGO());
  const first = account.accessToken();
  first.catch(() => {});
  await once(server, "request");
  mock.timers.tick(5000);
  await assert.rejects(first, { code: "unreachable" });
  answers = true;
  assert.equal(await account.accessToken(), "new");
});

test("a rejected token is not used again", async () => {
  cameBack(LATER(), LATER());
  answers = true;
  assert.equal(await account.accessToken("old"), "new");
});

test("signing out stops reading private conversations, but a rejected request does not", async () => {
  cameBack(LATER(), LATER());
  account.signOut();
  const error = await account.accessToken().catch((refusal) => refusal);
  assert.equal(error.code, "signed_out");
  assert.throws(() => reportResponse(error), error);
  reportResponse(new Refusal({ error: "missing_permission" }, 403));
});
