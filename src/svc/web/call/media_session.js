// Shows the call in the system's media controls: the lock screen, headset keys, and the browser's list of
// playing media. Does nothing if the browser has no media session.

import { effect } from "../vendor/signals.js";
import { channelsById } from "../state/channels.js";
import { info } from "../state/server.js";
import { callChannel, callState, leaveCall, sending, toggleCamera, toggleMic } from "./current_call.js";

const setMic = (/** @type {boolean} */ wanted) => () => {
  if (sending.value.mic !== wanted) toggleMic();
};
// A lock screen has no microphone button, so pause mutes and stop hangs up.
const ACTS = {
  togglemicrophone: toggleMic,
  togglecamera: toggleCamera,
  hangup: leaveCall,
  pause: setMic(false),
  play: setMic(true),
  stop: leaveCall,
};

export function controlMediaSession() {
  const session = navigator.mediaSession;
  if (!session) return;
  effect(() => {
    const inCall = callState.value !== "none";
    for (const [name, act] of /** @type {[MediaSessionAction, () => void][]} */ (Object.entries(ACTS))) {
      try {
        session.setActionHandler(name, inCall ? act : null);
      } catch {
        // This browser does not support this action.
      }
    }
  });
  effect(() => {
    const title = channelsById.value.get(callChannel.value ?? "")?.name;
    const artwork = info.value?.iconUrl ? [{ src: info.value.iconUrl }] : [];
    session.metadata = title ? new MediaMetadata({ title, artist: info.value?.name ?? "", artwork }) : null;
  });
  effect(() => {
    const inCall = callState.value !== "none";
    const { mic, camera } = sending.value;
    session.playbackState = inCall ? (mic ? "playing" : "paused") : "none";
    session.setMicrophoneActive?.(mic)?.catch?.(() => {});
    session.setCameraActive?.(camera !== null)?.catch?.(() => {});
  });
}
