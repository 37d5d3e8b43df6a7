// Exports the modules that a call needs. The page imports them when the member first enters a call.

export { Call } from "./call.js";
export { LayerRequests } from "./layer_requests.js";
export { Publisher } from "./publisher.js";
export { encryptionFor } from "./encryption.js";
export { watchQuality } from "./call_statistics.js";
export { Sound } from "./audio_output.js";
