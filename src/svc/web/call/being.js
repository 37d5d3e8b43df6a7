// What being in a call needs; fetched when somebody first enters one.

export { Call } from "./call.js";
export { Layering } from "./layering.js";
export { Publisher } from "./publisher.js";
export { sealingOf } from "./sealing.js";
export { watchQuality } from "./quality.js";
export { Sound } from "./sound.js";
