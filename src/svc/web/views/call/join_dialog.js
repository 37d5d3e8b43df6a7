// Shows the dialog before a call. In it, members turn their microphone and camera on or off and test their
// devices. The choices are stored.

import { setJoinDefaults, joinCall, joinDefaults } from "../../call/current_call.js";
import { channelsById } from "../../state/channels.js";
import { open } from "../../state/navigation.js";
import { html } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { Button } from "../parts/button.js";
import { Dialog } from "../parts/dialog.js";
import { Switch } from "../parts/field.js";
import { DeviceSelect, LevelMeter, SelfView, TestSound } from "./device_choice.js";

/** @param {{channelId: string, onClose: () => void}} props */
export function JoinDialog({ channelId, onClose }) {
  const { mic, camera } = joinDefaults.value;
  const join = () => {
    onClose();
    open(channelId);
    joinCall(channelId, joinDefaults.value);
  };
  return html`<${Dialog}
    title=${t("join-with", { channel: channelsById.value.get(channelId)?.name ?? "" })}
    onClose=${onClose}
    class="join-dialog"
  >
    <div class="device">
      <${Switch}
        label=${t("with-mic")}
        checked=${mic}
        onChange=${(/** @type {boolean} */ on) => setJoinDefaults({ mic: on })}
      />
      ${
        mic &&
        html`
          <${DeviceSelect} kind="audioinput" name="microphone" label=${t("choose-microphone")} named />
          <${LevelMeter} />
        `
      }
    </div>
    <div class="device">
      <${Switch}
        label=${t("with-camera")}
        checked=${camera}
        onChange=${(/** @type {boolean} */ on) => setJoinDefaults({ camera: on })}
      />
      ${
        camera &&
        html`
          <${DeviceSelect} kind="videoinput" name="camera" label=${t("choose-camera")} named />
          <${SelfView} />
        `
      }
    </div>
    <div class="device">
      <${DeviceSelect} kind="audiooutput" name="speaker" label=${t("choose-speaker")} />
      <p><${TestSound} /></p>
    </div>
    <footer>
      <${Button} onClick=${onClose}>${t("cancel")}<//>
      <${Button} look="primary" onClick=${join}>${t("join-call")}<//>
    </footer>
  <//>`;
}
