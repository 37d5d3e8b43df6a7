// Renders the call controls.

/** @import { ItemList } from "../parts/menu.js" */

import {
  callChannel,
  deafened,
  ownHand,
  sending,
  toggleCamera,
  toggleDeafened,
  toggleHand,
  toggleScreen,
} from "../../call/current_call.js";
import { otherCamera } from "../../call/devices.js";
import { mode, onlySound } from "../../state/call_layout.js";
import { setCallSettings } from "../../state/call_settings.js";
import { mayInCall } from "../../state/channels.js";
import { showDialog, toggleSidePanel } from "../../state/navigation.js";
import { html } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { Icon } from "../parts/icon.js";
import { MenuButton } from "../parts/menu.js";
import { Control, LeaveControl, MicControl } from "./control_button.js";
import { GestureControl } from "./hands_and_reactions.js";
import { canPopOut, popOut } from "./pop_out.js";

export function Controls() {
  const { camera, screen } = sending.value;
  const channelId = callChannel.value ?? "";
  const mayShare = mayInCall("share_screen", channelId);
  return html`<div class="call-controls" role="group" aria-label=${t("call-controls")}>
    ${
      mayInCall("speak", channelId)
        ? html`<${MicControl} />`
        : html`<${Control}
            id="hand"
            on=${ownHand()}
            icon="hand"
            label=${ownHand() ? t("lower-hand") : t("raise-hand")}
            onClick=${toggleHand}
          />`
    }
    <${Control}
      id="deafen"
      look=${deafened.value ? "off" : ""}
      icon=${deafened.value ? "deafen" : "headphones"}
      label=${deafened.value ? t("undeafen") : t("deafen")}
      onClick=${toggleDeafened}
    />
    ${
      (camera || mayInCall("share_video", channelId)) &&
      html`<${Control}
        id="camera"
        on=${camera !== null}
        icon=${camera ? "camera" : "camera-off"}
        label=${camera ? t("stop-camera") : t("start-camera")}
        onClick=${toggleCamera}
      />`
    }
    ${
      mayShare &&
      html`<${Control}
        id="screen"
        on=${screen !== null}
        icon=${screen ? "screen-stop" : "screen"}
        label=${screen ? t("stop-sharing") : t("share-screen")}
        why=${whyNoScreen()}
        onClick=${toggleScreen}
      />`
    }
    <${GestureControl} />
    <${MenuButton}
      label=${t("call-menu")}
      aria-label=${t("call-menu")}
      class="control"
      items=${items(mayShare)}
    >
      <${Icon} name="more" />
      <span>${t("more")}</span>
    <//>
    <${LeaveControl} />
  </div>`;
}

/** @param {boolean} mayShare @returns {ItemList} */
function items(mayShare) {
  const { camera } = sending.value;
  const other = camera && otherCamera(camera.getSettings().deviceId);
  return [
    other && {
      label: t("other-camera"),
      icon: "camera",
      onChoose: () => setCallSettings({ camera: other.id }),
    },
    {
      label: t("layout-grid"),
      checked: mode.value === "grid",
      onChoose: () => {
        mode.value = "grid";
      },
    },
    {
      label: t("layout-speaker"),
      checked: mode.value === "speaker",
      onChoose: () => {
        mode.value = "speaker";
      },
    },
    {
      label: onlySound.value ? t("show-pictures") : t("only-sound"),
      icon: "camera-off",
      onChoose: () => {
        onlySound.value = !onlySound.value;
      },
    },
    mayShare &&
      !whyNoScreen() && {
        label: t("screen-options"),
        icon: "screen",
        onChoose: () => showDialog("screen"),
      },
    { label: t("pop-out"), icon: "full", why: canPopOut() ? "" : t("pop-out-never"), onChoose: popOut },
    { label: t("quality"), icon: "levels", onChoose: () => toggleSidePanel("quality") },
    { label: t("settings-voice"), icon: "gear", onChoose: () => showDialog("settings", { page: "voice" }) },
  ];
}

/** Return the reason why this browser cannot share the screen, or "" if it can. */
function whyNoScreen() {
  if (!navigator.mediaDevices) return t("screen-insecure");
  return typeof navigator.mediaDevices.getDisplayMedia === "function" ? "" : t("screen-never");
}
