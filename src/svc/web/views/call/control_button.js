// Renders a call button. Its label describes the action, so it has no aria-pressed. Its appearance shows
// whether the feature is on. A muted microphone is red, and a live one looks like any other button.

/** @import { IconName } from "../parts/icon.js" */

import { callChannel, leaveCall, sending, toggleMic } from "../../call/current_call.js";
import { mayInCall } from "../../state/channels.js";
import { notify } from "../../state/notices.js";
import { html } from "../../vendor/preact.js";
import { t } from "../../words/words.js";
import { Icon } from "../parts/icon.js";

/**
 * `why` is the reason why the button is disabled. It is the button's tooltip and, for members who cannot see
 * tooltips, is also shown when the button is clicked.
 * @param {{id: string, on?: boolean, icon: IconName, label: string, look?: string, why?: string, onClick: ()
 *   => void}} props
 */
export function Control({ id, on, icon, label, look = "", why = "", onClick }) {
  return html`<button
    id=${id}
    type="button"
    class=${`control ${on ? "on" : ""} ${look}`}
    title=${why || undefined}
    aria-disabled=${why ? "true" : undefined}
    aria-description=${why || undefined}
    onClick=${why ? () => notify(why) : onClick}
  >
    <${Icon} name=${icon} />
    <span>${label}</span>
  </button>`;
}

/** The microphone button, for everyone except the audience of a stage. */
export function MicControl() {
  if (!mayInCall("speak", callChannel.value ?? "")) return null;
  const { mic } = sending.value;
  return html`<${Control}
    id="mic"
    look=${mic ? "" : "off"}
    icon=${mic ? "mic" : "mic-off"}
    label=${mic ? t("mute") : t("unmute")}
    onClick=${toggleMic}
  />`;
}

export function LeaveControl() {
  return html`<${Control}
    id="leave"
    look="danger"
    icon="leave"
    label=${t("leave-call")}
    onClick=${leaveCall}
  />`;
}
