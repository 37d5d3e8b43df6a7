export { loadGtcrn, GtcrnWorkletNode } from "@sapphi-red/web-noise-suppressor";
