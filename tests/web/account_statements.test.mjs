// Tests that a statement is accepted only if its own key has signed it, and that two statements link accounts
// only if each contains the other account, server and key.

import assert from "node:assert/strict";
import { test } from "node:test";

import {
  digestOf,
  LINK,
  makeStatement,
  matches,
  readStatement,
  REQUEST,
} from "../../src/svc/web/transport/account_statements.js";

const [HERE, THERE] = ["https://a.example", "https://b.example"];

/** Create a key in the same way as transport/device_key.js. */
async function key() {
  const pair = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, false, [
    "sign",
    "verify",
  ]);
  const { crv, kty, x, y } = await crypto.subtle.exportKey("jwk", pair.publicKey);
  const jwk = { crv, kty, x, y };
  return { privateKey: pair.privateKey, jwk, thumbprint: await digestOf(JSON.stringify(jwk)) };
}

const [ours, theirs] = [await key(), await key()];
const mine = {
  use: LINK,
  iss: HERE,
  sub: "ada",
  aud: THERE,
  made_at_ms: 1,
  peer: "gardener",
  peer_key: theirs.thumbprint,
};
const other = {
  use: LINK,
  iss: THERE,
  sub: "gardener",
  aud: HERE,
  made_at_ms: 2,
  peer: "ada",
  peer_key: ours.thumbprint,
};

test("a signed statement is read with the thumbprint of its key", async () => {
  const text = await makeStatement(ours, mine);
  assert.deepEqual(await readStatement(text), { ...mine, key: ours.thumbprint, text });
  assert.ok(text.length < 1200);
});

test("a request is valid without another account", async () => {
  const request = { use: REQUEST, iss: HERE, sub: "ada", aud: THERE, made_at_ms: 1 };
  assert.equal((await readStatement(await makeStatement(ours, request)))?.use, REQUEST);
});

test("a statement that its own key has not signed is rejected", async () => {
  const text = await makeStatement(ours, mine);
  const [head, body, signature] = text.split(".");
  const [otherHead, otherBody, otherSignature] = (await makeStatement(theirs, other)).split(".");
  const wrong = [
    `${head}.${otherBody}.${signature}`,
    `${head}.${body}.${otherSignature}`,
    `${otherHead}.${body}.${signature}`,
    `${head}.${body}`,
    `${text}.more`,
    `${head}.${body}.`,
    text + "A".repeat(2048),
    "",
    "a.b.c",
  ];
  for (const text of wrong) assert.equal(await readStatement(text), null, text.slice(0, 40));
});

test("a statement with a missing or wrong claim is rejected", async () => {
  const changes = [
    { use: "mls" },
    { use: undefined },
    { iss: 1 },
    { sub: "" },
    { aud: null },
    { peer: undefined },
    { peer_key: "" },
    { made_at_ms: "1" },
    { made_at_ms: 1.5 },
  ];
  for (const change of changes)
    assert.equal(await readStatement(await makeStatement(ours, { ...mine, ...change })), null);
});

test("two statements match only if each contains the other account, server, and key", async () => {
  const read = async (by, claims) => readStatement(await makeStatement(by, claims));
  const [one, two] = [await read(ours, mine), await read(theirs, other)];
  assert.ok(matches(one, two) && matches(two, one));
  const stranger = await key();
  for (const [by, claims] of [
    [stranger, other],
    [theirs, { ...other, sub: "eve" }],
    [theirs, { ...other, iss: "https://c.example" }],
    [theirs, { ...other, aud: "https://c.example" }],
    [theirs, { ...other, peer: "eve" }],
    [theirs, { ...other, peer_key: stranger.thumbprint }],
    [theirs, { ...other, use: REQUEST }],
  ])
    assert.equal(matches(one, await read(by, claims)), false);
  assert.equal(matches(one, one), false);
});
