// Changes to the text of offers and answers that no interface of the browser can make.

/** @import { Sound } from "./session.js" */

const MUSIC_KBPS = 128;

/**
 * Return the offer with the settings of our sound encoders, which follow the remote side's wishes (RFC 7587).
 * A voice sends next to nothing while it is silent (DTX). Music and the sound of a screen, on the line
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
    .map((line) => {
      const wish = music || line.includes(`a=mid:${screenMid}\r`) ? rich : voice;
      return line.replace(/^(a=fmtp:\d+ .*useinbandfec=1)\r?$/gmu, `$1;${wish}\r`);
    })
    .join("");
}

/**
 * Return our answer with stereo enabled. Otherwise Chromium plays incoming stereo as one channel.
 * @param {string} sdp
 */
export function inStereo(sdp) {
  return sdp.replace(/^(a=fmtp:\d+ (?!.*stereo=1).*useinbandfec=1)/gmu, "$1;stereo=1");
}

/**
 * Return the offer with VP9 last on lines with several encodings, for Firefox, which sends the first codec
 * that it has. Firefox 153 codes every one of several VP9 encodings in the size of the smallest.
 * @param {string} sdp
 */
export function withVp9Last(sdp) {
  return sdp
    .split(/(?=^m=)/mu)
    .map((line) => {
      if (!line.includes("\na=simulcast:")) return line;
      const isVp9 = (/** @type {string} */ type) => Number(line.includes(`\na=rtpmap:${type} VP9/`));
      return line.replace(/^(m=video \S+ \S+ )([\d ]+)/u, (_, head, types) => {
        return (
          head +
          types
            .split(" ")
            .sort((/** @type {string} */ a, /** @type {string} */ b) => isVp9(a) - isVp9(b))
            .join(" ")
        );
      });
    })
    .join("");
}
