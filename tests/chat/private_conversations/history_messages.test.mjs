// A new device gets earlier messages only from another device of the same member. Run by
// test_private_clients.py.

import assert from "node:assert/strict";
import test from "node:test";

import {
  contentOf,
  deletionPayload,
  editPayload,
  messagePayload,
} from "../../../src/svc/web/state/private/content.js";
import {
  transferResponseIn,
  transferRequestsIn,
  requestTransfer,
  transferStateOf,
  ownOtherDevices,
  refuseTransfer,
  sendTransfer,
  importTransfer,
} from "../../../src/svc/web/state/private/history_messages.js";
import { createFrank } from "../../../src/svc/web/state/private/franking.js";
import {
  commit,
  configOf,
  join,
  makeKeys,
  makePackage,
  readStatement,
  seal,
  toBase64,
  unpacked,
  utf8,
} from "../../../src/svc/web/state/private/mls.js";
import { signed } from "../../../src/svc/web/transport/device_key.js";
import { AUDIENCE, Client, freshKey, settle } from "./clients.mjs";

const SECRET = process.env.SVC_SECRET;

/** The arguments for the web client's own code, for this client. */
const parts = (client) => ({
  store: client.store,
  send: (id, payload) => client.device.send(id, payload),
  upload: (id, data) => client.upload(id, data),
  fetchFile: (id, fileId) => client.fetchFile(id, fileId),
});

async function ours(client, id) {
  const { statements } = await client.device.groupState(id);
  const inGroup = await Promise.all(statements.map((statement) => readStatement(statement, AUDIENCE)));
  return ownOtherDevices(inGroup, await client.ask("GET", `/api/private/conversations/${id}`), client);
}

/** The requests that are displayed on this device. */
const asksAt = async (client, id) =>
  transferRequestsIn(await client.device.history(id), client, await ours(client, id));
const standsAt = async (client, id) => transferStateOf(client.store, id, await ours(client, id));

/** Whether this device received and accepted an answer. */
async function takes(client, id) {
  await client.device.sync();
  const answer = await transferResponseIn(
    client.store,
    id,
    await client.device.history(id),
    client,
    await ours(client, id),
  );
  if (answer) await importTransfer(parts(client), id, answer);
  return Boolean(answer);
}

/** Start a conversation of Ada, Ben and Cem with some messages. Then link a new phone of Ben's. */
async function withPhone() {
  const [ada, ben, cem] = [await Client.join("Ada"), await Client.join("Ben"), await Client.join("Cem")];
  const { id } = await ada.device.openWith([ben.memberId, cem.memberId]);
  const message = messagePayload("a draft");
  for (const payload of [message, editPayload({ key: message.key }, SECRET)])
    await ada.device.send(id, payload);
  for (const client of [ben, cem]) await client.device.sync();
  const doomed = messagePayload("taken back");
  for (const payload of [messagePayload("and mine"), doomed, deletionPayload({ key: doomed.key })])
    await ben.device.send(id, payload);
  const phone = await ben.another();
  await settle([ada, ben, cem, phone], id);
  await ada.device.send(id, messagePayload("after"));
  await phone.device.sync();
  return { ada, ben, cem, phone, id };
}

async function requestEarlier() {
  const all = await withPhone();
  await requestTransfer(parts(all.phone), all.id);
  for (const client of [all.ada, all.ben, all.cem]) await client.device.sync();
  return all;
}

const textsOf = async (client, id) =>
  contentOf(await client.device.history(id)).messages.map(({ text, memberId }) => [text, memberId]);

test("a new device gets the history only once the person at the old device has allowed it", async () => {
  const { ada, ben, cem, phone, id } = await withPhone();
  assert.equal(await standsAt(phone, id), "can");
  assert.deepEqual(await textsOf(phone, id), [["after", ada.memberId]]);
  await requestTransfer(parts(phone), id);
  for (const client of [ada, ben, cem]) await client.device.sync();
  for (let round = 0; round < 2; round += 1) {
    await settle([ada, ben, cem, phone], id);
    assert.equal(await takes(phone, id), false, "nothing goes by itself");
  }
  assert.equal(await standsAt(phone, id), "asked");
  const [ask] = await asksAt(ben, id);
  assert.equal(ask.thumbprint, phone.thumbprint, "the person can see which device asks");
  await sendTransfer(parts(ben), id, ask);
  assert.equal(await takes(phone, id), true);
  assert.deepEqual(await textsOf(phone, id), [
    [SECRET, ada.memberId],
    ["and mine", ben.memberId],
    ["after", ada.memberId],
  ]);
  assert.deepEqual(await phone.troubles(id), [["brought", undefined]], "the page says where it comes from");
  assert.equal(await standsAt(phone, id), "done");
  await ben.device.sync();
  assert.deepEqual(await asksAt(ben, id), []);
  // The conversation continues. The transfer does not appear as a message.
  await ada.device.send(id, messagePayload("still here"));
  for (const client of [ada, ben, cem, phone]) {
    await client.device.sync();
    assert.deepEqual(
      (await textsOf(client, id)).map(([text]) => text),
      [SECRET, "and mine", "after", "still here"],
    );
  }
});

test("only the requesting device can open the history, and its key is then deleted", async () => {
  const { ada, ben, cem, phone, id } = await requestEarlier();
  const key = (await phone.store.get(`asked/${id}`)).key;
  await sendTransfer(parts(ben), id, (await asksAt(ben, id))[0]);
  for (const client of [ada, cem]) {
    assert.equal(await takes(client, id), false);
    // A device that claims to have made the request cannot open the answer, either.
    const answer = (await client.device.history(id)).at(-1).said;
    await requestTransfer({ ...parts(client), send: async () => {} }, id);
    const state = await client.store.get(`asked/${id}`);
    await client.store.put([
      [`asked/${id}`, { ...state, ask: answer.for }],
      [`since/${id}`, 100],
    ]);
    await importTransfer(parts(client), id, answer);
    assert.equal((await client.store.get(`asked/${id}`)).state, "failed");
    assert.equal(await standsAt(client, id), "none", "there is no other device of theirs");
  }
  assert.ok(key.length > 0);
  assert.equal(await takes(phone, id), true);
  assert.equal((await phone.store.get(`asked/${id}`)).key.length, 0);
});

test("a refusal is reported, and the history can be requested once more", async () => {
  const { ben, phone, id } = await requestEarlier();
  await refuseTransfer(parts(ben).send, id, (await asksAt(ben, id))[0]);
  assert.deepEqual(await asksAt(ben, id), []);
  await takes(phone, id);
  assert.equal(await standsAt(phone, id), "refused");
  assert.deepEqual(
    (await textsOf(phone, id)).map(([text]) => text),
    ["after"],
  );
  await requestTransfer(parts(phone), id);
  await requestTransfer(parts(phone), id);
  await ben.device.sync();
  const asks = await asksAt(ben, id);
  assert.equal(asks.length, 1, "however often a device asks, it asks once");
  await sendTransfer(parts(ben), id, asks[0]);
  await takes(phone, id);
  assert.equal(await standsAt(phone, id), "done");
});

test("altered history is refused with an error, and unavailable history is retried later", async () => {
  const { ben, phone, id } = await requestEarlier();
  const answered = async () => {
    await ben.device.sync();
    await sendTransfer(parts(ben), id, (await asksAt(ben, id))[0]);
    await phone.device.sync();
    return transferResponseIn(phone.store, id, await phone.device.history(id), phone, await ours(phone, id));
  };
  const withFile = (answer, changes) => ({ ...answer, file: { ...answer.file, ...changes } });
  for (const [what, spoilt] of Object.entries({
    "another digest": (answer) =>
      withFile(answer, { digest: answer.file.digest.replace(/^./u, (first) => (first === "A" ? "B" : "A")) }),
    "a key that is none": (answer) => ({ ...answer, by: "?" }),
    "too large": (answer) => withFile(answer, { bytes: 2 ** 30 }),
    "not at the server": (answer) => withFile(answer, { id: "1" }),
  })) {
    await importTransfer(parts(phone), id, spoilt(await answered()));
    assert.equal(await standsAt(phone, id), "failed", what);
    assert.deepEqual(
      (await textsOf(phone, id)).map(([text]) => text),
      ["after"],
    );
    await requestTransfer(parts(phone), id);
  }
  const answer = await answered();
  const fetchFile = () => Promise.reject(Object.assign(new Error("the network"), { code: "unreachable" }));
  await assert.rejects(importTransfer({ ...parts(phone), fetchFile }, id, answer), { code: "unreachable" });
  assert.equal(await standsAt(phone, id), "asked");
  assert.equal(await takes(phone, id), true);
  assert.equal(await standsAt(phone, id), "done");
});

test("requests and responses of other members are ignored", async () => {
  const { ada, ben, cem, phone, id } = await requestEarlier();
  await cem.store.put([[`since/${id}`, 100]]);
  await requestTransfer(parts(cem), id);
  for (const client of [ada, ben, phone]) {
    await client.device.sync();
    assert.deepEqual(
      (await asksAt(client, id)).map(({ thumbprint }) => thumbprint),
      client === ben ? [phone.thumbprint] : [],
    );
  }
  const [ask] = await asksAt(ben, id);
  await sendTransfer(parts(cem), id, ask);
  assert.equal(await takes(phone, id), false);
  await ben.device.sync();
  assert.equal((await asksAt(ben, id)).length, 1, "nor does it count as one");
});

test("a device that claims to belong to another member neither receives nor supplies history", async () => {
  const { ada, ben, cem, phone, id } = await requestEarlier();
  const evil = await slippedIn(cem, ben, id);
  const { thumbprint } = await readStatement(evil.statement, AUDIENCE);
  await evil.says({ v: 1, type: "earlier", key: "1", ask: (await asksAt(ben, id))[0].ask, up_to: 1 });
  await evil.says({ v: 1, type: "earlier", key: "2", for: (await asksAt(ben, id))[0].ask });
  for (const client of [ada, ben, phone]) await client.device.sync();
  const { statements } = await ben.device.groupState(id);
  assert.ok(statements.includes(evil.statement), "MLS has let it in, as Ben");
  assert.equal((await ben.device.history(id)).at(-1).thumbprint, thumbprint, "and it has spoken as Ben");
  assert.deepEqual(
    (await asksAt(ben, id)).map((ask) => ask.thumbprint),
    [phone.thumbprint],
    "the server knows no such device of his",
  );
  assert.equal(await takes(phone, id), false);
  assert.equal(await standsAt(phone, id), "asked");
});

/** A device with a key of `by`, who has added it to the group and claims that it belongs to `victim`. */
async function slippedIn(by, victim, id) {
  const key = await freshKey();
  const keys = await makeKeys();
  const claims = {
    use: "mls",
    aud: AUDIENCE,
    sub: victim.memberId,
    mls_key: toBase64(keys.publicKey).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", ""),
  };
  const statement = await signed(key, claims, { jwk: key.jwk });
  const { ref, ...own } = await makePackage({ ...keys, statement }, Date.now());
  await by.device.sync();
  const group = await by.store.get(`group/${id}`);
  const config = configOf(AUDIENCE, () => true);
  const made = await commit(unpacked(group.state, config), [own.message], []);
  // The Welcome bypasses the server.
  await by.ask("POST", `/api/private/conversations/${id}/commits`, {
    commit: toBase64(made.message),
    removed: [],
    after: group.seq,
  });
  let { state } = await join(made.welcome, async (wanted) => (wanted === ref ? own : undefined), config);
  const says = async (said) => {
    const { frank, commitment, shown } = await createFrank(said);
    const { state: next, message } = await seal(state, utf8(JSON.stringify({ ...said, frank })), shown);
    state = next;
    await by.ask("POST", `/api/private/conversations/${id}/messages`, {
      message: toBase64(message),
      commitment: toBase64(commitment),
    });
  };
  return { statement, says };
}
