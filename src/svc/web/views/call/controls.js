// The buttons of a call. The label names what pressing does, so there is no aria-pressed beside it; the look
// shows what is on.

import { callChannel, deafened, leaveCall, sending, toggleCamera, toggleDeafened, toggleMic, toggleScreen } from "../../call/calling.js";
import { mode, onlySound } from "../../state/call_layout.js";
import { may } from "../../state/channels.js";
import { callSettings, chooseForCalls } from "../../state/call_settings.js";
import { showDialog, toggleAside } from "../../state/place.js";
import { html } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { Icon } from "../parts/icon.js";
import { MenuButton } from "../parts/menu.js";
import { GestureControl } from "./gestures.js";
import { canPopOut, popOut } from "./pop_out.js";

export function Controls() {
  const { mic, camera, screen } = sending.value;
  const mayShare = may("share_screen", callChannel.value) && Boolean(navigator.mediaDevices?.getDisplayMedia);
  return html`<div class="call-controls" role="group" aria-label=${t("call-controls")}>
    <${Control} id="mic" on=${mic} icon=${mic ? "mic" : "mic-off"} label=${mic ? t("mute") : t("unmute")} onClick=${toggleMic} />
    <${Control} id="deafen" on=${!deafened.value} icon=${deafened.value ? "deafen" : "headphones"} label=${deafened.value ? t("undeafen") : t("deafen")} onClick=${toggleDeafened} />
    ${(camera || may("share_video", callChannel.value)) && html`<${Control} id="camera" on=${camera !== null} icon=${camera ? "camera" : "camera-off"} label=${camera ? t("stop-camera") : t("start-camera")} onClick=${toggleCamera} />`}
    ${mayShare && html`<${Control} id="screen" on=${screen !== null} icon=${screen ? "screen-stop" : "screen"} label=${screen ? t("stop-sharing") : t("share-screen")} onClick=${toggleScreen} />`}
    <${GestureControl} />
    <${MenuButton} label=${t("call-menu")} aria-label=${t("call-menu")} class="control" items=${items(mayShare)}><${Icon} name="more" /><span>${t("more")}</span><//>
    <${Control} id="leave" look="danger" icon="leave" label=${t("leave-call")} onClick=${leaveCall} />
  </div>`;
}

function items(mayShare) {
  const { screen } = callSettings.value;
  return [
    { label: t("layout-grid"), checked: mode.value === "grid", onChoose: () => { mode.value = "grid"; } },
    { label: t("layout-speaker"), checked: mode.value === "speaker", onChoose: () => { mode.value = "speaker"; } },
    { label: onlySound.value ? t("show-pictures") : t("only-sound"), icon: "camera-off", onChoose: () => { onlySound.value = !onlySound.value; } },
    mayShare && { label: t("screen-text"), checked: screen === "text", onChoose: () => chooseForCalls({ screen: "text" }) },
    mayShare && { label: t("screen-motion"), checked: screen === "motion", onChoose: () => chooseForCalls({ screen: "motion" }) },
    canPopOut() && { label: t("pop-out"), icon: "full", onChoose: popOut },
    { label: t("quality"), icon: "flag", onChoose: () => toggleAside("quality") },
    { label: t("settings-voice"), icon: "gear", onChoose: () => showDialog("settings", { page: "voice" }) },
  ];
}

function Control({ id, on, icon, label, look = "", onClick }) {
  return html`<button id=${id} type="button" class=${`control ${on ? "on" : ""} ${look}`} onClick=${onClick}><${Icon} name=${icon} /><span>${label}</span></button>`;
}
