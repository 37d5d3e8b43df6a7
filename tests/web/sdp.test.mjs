// Tests the changes to offers before they are passed to the browser. offer.sdp is an offer by the SFU with
// media sections for the client's microphone (mid 0), camera (1), screen (2) and screen audio (3), and for a
// received camera (5).

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { allDecodeVp9, withCodecFirst } from "../../src/svc/web/call/sdp.js";

const OFFER = readFileSync(new URL("offer.sdp", import.meta.url), "utf8").replaceAll("\n", "\r\n");
const OFFERED = "96 97 98 99 100 101 102 103 104 105 106 107 108 109 112 113 114 115";
const VP8_FIRST = "112 96 97 98 99 100 101 102 103 104 105 106 107 108 109 113 114 115";
const VP9_FIRST = "106 108 96 97 98 99 100 101 102 103 104 105 107 109 112 113 114 115";
const RECEIVED = "112 113 96 97 98 99 100 101 102 103 104 105 106 107 108 109 114 115";

/** Return the payload types of each video media section, in order. */
const videoTypes = (sdp) =>
  [...sdp.matchAll(/^m=video 9 UDP\/TLS\/RTP\/SAVPF ([\d ]+)\r$/gmu)].map(([, types]) => types);
const withoutMediaLines = (sdp) => sdp.replaceAll(/^m=video .*$/gmu, "m=video");

test("a codec comes first in the given sections, and the other payload types keep their order", () => {
  assert.deepEqual(videoTypes(OFFER), [OFFERED, OFFERED, RECEIVED]);
  assert.deepEqual(videoTypes(withCodecFirst(OFFER, "VP8", ["1", "2"])), [VP8_FIRST, VP8_FIRST, RECEIVED]);
  assert.deepEqual(videoTypes(withCodecFirst(OFFER, "VP9", ["1"])), [VP9_FIRST, OFFERED, RECEIVED]);
});

test("a browser finds the same payload types in the changed offer, with the same meaning", () => {
  const changed = withCodecFirst(OFFER, "VP8", ["1", "2"]);
  const sorted = (sdp) => videoTypes(sdp).map((types) => types.split(" ").sort());
  assert.deepEqual(sorted(changed), sorted(OFFER));
  assert.equal(withoutMediaLines(changed), withoutMediaLines(OFFER));
});

test("an offer without the codec is unchanged", () => {
  assert.equal(withCodecFirst(OFFER, "H265", ["1", "2"]), OFFER);
});

test("VP8 before VP9 means that somebody in the call cannot decode VP9", () => {
  assert.ok(allDecodeVp9(OFFER, "1"));
  const lines = (type) => OFFER.match(new RegExp(`^a=rtpmap:${type} .*\r\n`, "mu"))[0];
  const [vp8, h264] = [lines(112), lines(96)];
  const withoutVp9 = OFFER.replaceAll(vp8, "").replaceAll(h264, h264 + vp8);
  assert.ok(!allDecodeVp9(withoutVp9, "1"));
});
