// Changes to offers before they are passed to the browser.

import assert from "node:assert/strict";
import { test } from "node:test";

import { withVp9First, withVp9Last } from "../../src/svc/web/call/sdp.js";

const video = (...attributes) =>
  ["m=video 9 UDP/TLS/RTP/SAVPF 96 97 106 107 112 113", ...attributes, ""].join("\r\n");
const CODECS = ["a=rtpmap:96 H264/90000", "a=rtpmap:106 VP9/90000", "a=rtpmap:112 VP8/90000"];

const SOUND = "v=0\r\nm=audio 9 UDP/TLS/RTP/SAVPF 111\r\na=rtpmap:111 opus/48000/2\r\n";

test("VP9 comes last where several encodings are requested, and nothing else changes", () => {
  const single = video(...CODECS);
  const several = video(...CODECS, "a=simulcast:recv q;h;f");
  assert.equal(
    withVp9Last(SOUND + single + several),
    SOUND + single + several.replace("96 97 106 107 112 113", "96 97 107 112 113 106"),
  );
});

test("VP9 comes first in the camera's section, and nothing else changes", () => {
  const [camera, screen] = ["a=mid:1", "a=mid:2"].map((mid) => video(...CODECS, mid));
  assert.equal(
    withVp9First(SOUND + camera + screen, "1"),
    SOUND + camera.replace("96 97 106 107 112 113", "106 96 97 107 112 113") + screen,
  );
});
