// Tests the check that a server's address works for others.

import assert from "node:assert/strict";
import { test } from "node:test";

import { problemOf } from "../../src/svc/web/state/admin/management_requests.js";

const problem = (address) => problemOf(new URL(address));

test("an address of this computer does not work for others, with or without a certificate", () => {
  for (const address of [
    "http://localhost:5000",
    "https://127.0.0.1:5000",
    "http://[::1]:5000",
    "http://chat.localhost",
  ])
    assert.equal(problem(address), "only-here");
});

test("browsers do not allow signing in without https", () => {
  for (const address of ["http://chat.example", "http://192.168.0.7:5000", "http://raspberry.local"])
    assert.equal(problem(address), "no-tls");
});

test("a local network address works within that network", () => {
  for (const address of [
    "https://192.168.0.7:5000",
    "https://10.1.2.3",
    "https://172.20.0.1",
    "https://raspberry.local",
    "https://[fd00::1]",
    "https://[fe80::1]",
    "https://server:5000",
  ])
    assert.equal(problem(address), "nearby");
});

test("a public name or address with a certificate works for everyone", () => {
  for (const address of [
    "https://chat.example",
    "https://172.15.0.1",
    "https://203.0.113.7",
    "https://[2001:db8::1]",
  ])
    assert.equal(problem(address), null);
});
