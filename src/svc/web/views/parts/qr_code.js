// A URL as a QR code, dark on light regardless of the theme, because not every phone reads inverted codes.

import { html, useMemo } from "../../vendor/preact.js";
import { qrMatrix } from "./qr_matrix.js";

const MARGIN = 4; // The quiet zone that the standard requires.

/** @param {{text: string, label: string}} props */
export function QrCode({ text, label }) {
  const rows = useMemo(() => qrMatrix(text), [text]);
  if (!rows) return null;
  const size = rows.length + 2 * MARGIN;
  const path = rows
    .flatMap((row, y) => row.map((dark, x) => (dark ? `M${x + MARGIN} ${y + MARGIN}h1v1h-1z` : "")))
    .join("");
  return html`<svg class="qr" viewBox=${`0 0 ${size} ${size}`} role="img" aria-label=${label}>
    <rect width=${size} height=${size} fill="#fff" />
    <path d=${path} fill="#000" shape-rendering="crispEdges" />
  </svg>`;
}
