// Edits the SDP of offers and answers where browsers have no API for a change.

/** @import { Sound } from "./session.js" */

const MUSIC_KBPS = 128;

/**
 * Return the offer with the settings of our audio encoders, which follow the remote description (RFC 7587). A
 * voice sends almost nothing while it is silent (DTX). Music and a screen's audio, in the section
 * `screenMid`, are stereo.
 * @param {string} sdp
 * @param {Sound} sound
 * @param {string} screenMid
 */
export function withSound(sdp, { music, kbps }, screenMid) {
  const rich = `stereo=1;sprop-stereo=1;maxaveragebitrate=${(kbps || MUSIC_KBPS) * 1000}`;
  const voice = kbps ? `usedtx=1;maxaveragebitrate=${kbps * 1000}` : "usedtx=1";
  return sdp
    .split(/(?=^m=)/mu)
    .map((section) => {
      const wish = music || section.includes(`a=mid:${screenMid}\r`) ? rich : voice;
      return section.replace(/^(a=fmtp:\d+ .*useinbandfec=1)\r?$/gmu, `$1;${wish}\r`);
    })
    .join("");
}

/**
 * Return our answer with stereo enabled. Otherwise Chromium plays incoming stereo as mono.
 * @param {string} sdp
 */
export function inStereo(sdp) {
  return sdp.replace(/^(a=fmtp:\d+ (?!.*stereo=1).*useinbandfec=1)/gmu, "$1;stereo=1");
}

/**
 * Return the offer with VP9 first in the camera's section: a browser sends the first codec. At our bit rates,
 * Chromium shows twice as many frames of a noisy camera in VP9 as in H264 or VP8.
 * @param {string} sdp
 * @param {string} cameraMid
 */
export const withVp9First = (sdp, cameraMid) =>
  reordered(
    sdp,
    (section) => section.includes(`\na=mid:${cameraMid}\r`),
    (vp9, others) => [...vp9, ...others],
  );

/**
 * Return the offer with VP9 last in sections with several encodings. Firefox 153 encodes each of several VP9
 * encodings at the size of the smallest.
 * @param {string} sdp
 */
export const withVp9Last = (sdp) =>
  reordered(
    sdp,
    (section) => section.includes("\na=simulcast:"),
    (vp9, others) => [...others, ...vp9],
  );

/**
 * @param {string} sdp
 * @param {(section: string) => boolean} concerns
 * @param {(vp9: string[], others: string[]) => string[]} order
 */
function reordered(sdp, concerns, order) {
  const sections = sdp.split(/(?=^m=)/mu).map((section) => {
    if (!concerns(section)) return section;
    const isVp9 = (/** @type {string} */ type) => section.includes(`\na=rtpmap:${type} VP9/`);
    return section.replace(/^(m=video \S+ \S+ )([\d ]+)/u, (_, head, types) => {
      const all = /** @type {string[]} */ (types.split(" "));
      return (
        head +
        order(
          all.filter(isVp9),
          all.filter((type) => !isVp9(type)),
        ).join(" ")
      );
    });
  });
  return sections.join("");
}
