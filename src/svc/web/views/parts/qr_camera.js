// Shows the camera's video and scans it for QR codes.

/** @import { RefObject } from "../../vendor/preact.js" */

import { explainDevice, openBackCamera } from "../../call/media_capture.js";
import { html, useEffect, useRef } from "../../vendor/preact.js";
import { explain, t } from "../../words/words.js";

const LOOK_MS = 150;

/**
 * `onRead` is called repeatedly with a QR code's text while the code is visible. `onProblem` receives the
 * reason if there is no video.
 * @param {{label: string, onRead: (text: string) => void, onProblem: (sentence: string) => void}} props
 */
export function QrCamera({ label, onRead, onProblem }) {
  /** @type {RefObject<HTMLVideoElement>} */
  const video = useRef(null);
  const hears = useRef({ onRead, onProblem });
  hears.current = { onRead, onProblem };
  useEffect(() => {
    video.current.scrollIntoView({ block: "center" });
    const over = new AbortController();
    look(video.current, over.signal, (text) => hears.current.onRead(text)).catch((sentence) => {
      if (!over.signal.aborted) hears.current.onProblem(sentence);
    });
    return () => over.abort();
  }, []);
  return html`<video class="qr-camera" ref=${video} aria-label=${label} autoplay muted playsinline></video>`;
}

/**
 * Scan until `over` is aborted. Rejects with a message for the user.
 * @param {HTMLVideoElement} video
 * @param {AbortSignal} over
 * @param {(text: string) => void} onRead
 */
async function look(video, over, onRead) {
  const detector = await qrDetector().catch(() => {
    throw t("error-unreachable");
  });
  const track = await openBackCamera().catch((error) => {
    throw explainDevice(error, "camera");
  });
  if (over.aborted) return track.stop();
  over.addEventListener("abort", () => track.stop());
  video.srcObject = new MediaStream([track]);
  try {
    await video.play();
    while (!over.aborted) {
      const [code] = await detector.detect(video);
      if (code && !over.aborted) onRead(code.rawValue);
      await new Promise((resolve) => {
        setTimeout(resolve, LOOK_MS);
      });
    }
  } catch (error) {
    throw explain(error);
  }
}

/** Return the browser's QR code detector, or that of a library with the same interface. */
async function qrDetector() {
  /** @typedef {typeof import("../../vendor/qr.js").BarcodeDetector} Detector */
  const { BarcodeDetector: own } = /** @type {{BarcodeDetector?: Detector}} */ (globalThis);
  const isThere = own && (await own.getSupportedFormats()).includes("qr_code");
  const Detector = isThere ? own : (await import("../../vendor/qr.js")).BarcodeDetector;
  return new Detector({ formats: ["qr_code"] });
}
