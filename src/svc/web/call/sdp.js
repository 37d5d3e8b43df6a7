// Edits the SDP of offers and answers where browsers have no API.

/** @import { Sound } from "./session.js" */

const MUSIC_KBPS = 128;

/**
 * Return the offer with our Opus settings added. Encoders read their settings from the remote description
 * (RFC 7587). Voice uses DTX, which sends almost nothing during silence. Music and screen audio are stereo.
 * Screen audio is in the media section `screenMid`.
 * @param {string} sdp
 * @param {Sound} sound
 * @param {string} screenMid
 */
export function preferSoundQuality(sdp, { music, kbps }, screenMid) {
  const rich = `stereo=1;sprop-stereo=1;maxaveragebitrate=${(kbps || MUSIC_KBPS) * 1000}`;
  const voice = kbps ? `usedtx=1;maxaveragebitrate=${kbps * 1000}` : "usedtx=1";
  return sdp
    .split(/(?=^m=)/mu)
    .map((section) => {
      const parameters = music || section.includes(`a=mid:${screenMid}\r`) ? rich : voice;
      return section.replace(/^(a=fmtp:\d+ .*useinbandfec=1)\r?$/gmu, `$1;${parameters}\r`);
    })
    .join("");
}

/**
 * Return our answer with stereo enabled. Without this, Chromium plays incoming stereo as mono.
 * @param {string} sdp
 */
export function inStereo(sdp) {
  return sdp.replace(/^(a=fmtp:\d+ (?!.*stereo=1).*useinbandfec=1)/gmu, "$1;stereo=1");
}

/**
 * Return whether everybody in the call can decode VP9. Otherwise, the SFU lists VP8 before VP9.
 * @param {string} sdp
 * @param {string} mid A media section for our video.
 */
export function allDecodeVp9(sdp, mid) {
  const section = sdp.split(/(?=^m=)/mu).find((candidate) => candidate.includes(`\na=mid:${mid}\r`)) ?? "";
  return section.indexOf(" VP9/") < section.indexOf(" VP8/");
}

/**
 * Return the offer with a codec first in these media sections, because browsers send the first codec that
 * they support.
 * @param {string} sdp
 * @param {string} codec
 * @param {string[]} mids
 */
export const withCodecFirst = (sdp, codec, mids) =>
  sdp
    .split(/(?=^m=)/mu)
    .map((section) => {
      if (!mids.some((mid) => section.includes(`\na=mid:${mid}\r`))) return section;
      const isFirst = (/** @type {string} */ type) => section.includes(`\na=rtpmap:${type} ${codec}/`);
      return section.replace(/^(m=video \S+ \S+ )([\d ]+)/u, (_, head, list) => {
        const types = /** @type {string[]} */ (list.split(" "));
        return head + types.sort((a, b) => Number(isFirst(b)) - Number(isFirst(a))).join(" ");
      });
    })
    .join("");
