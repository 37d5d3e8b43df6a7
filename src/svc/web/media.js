// Opening the microphone, the camera and the screen, and saying in plain words
// why that did not work. Publishes nothing.

export async function openMicrophone() {
  return openDevice({ audio: { echoCancellation: true, noiseSuppression: true, autoGainControl: true } });
}

export async function openCamera() {
  return openDevice({ video: { width: { ideal: 1280 }, height: { ideal: 720 }, frameRate: { ideal: 30 } } });
}

/** Resolves with {video, audio}; audio is null when the person shares none. */
export async function openScreen() {
  // The whole system's sound would send everybody their own voice back.
  const stream = await devices().getDisplayMedia({ video: true, audio: true, systemAudio: "exclude" });
  return { video: stream.getVideoTracks()[0], audio: stream.getAudioTracks()[0] ?? null };
}

/** A sentence for the person, or "" when they simply changed their mind. */
export function explain(error, device) {
  if (error.name === "NotAllowedError" && device === "screen") return "";
  const reasons = {
    NotAllowedError: `The browser may not use your ${device}. Allow it beside the address, then try again.`,
    NotFoundError: `No ${device} was found on this device.`,
    NotReadableError: `Another program is using your ${device}.`,
    InsecureContextError: `Browsers open the ${device} on HTTPS addresses only. Ask your host for one.`,
  };
  return reasons[error.name] ?? `Your ${device} could not be opened: ${error.message}`;
}

async function openDevice(constraints) {
  const stream = await devices().getUserMedia(constraints);
  return stream.getTracks()[0];
}

function devices() {
  if (navigator.mediaDevices) return navigator.mediaDevices;
  throw Object.assign(new Error("insecure context"), { name: "InsecureContextError" });
}
